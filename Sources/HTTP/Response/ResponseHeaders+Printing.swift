/// Prints all names, and the values of the few headers that describe a body or its keeping: in a log, in a dump, or as a part of another value.
/// All other values may be somebody's secret, such as a cookie or a place with a token.
extension ResponseHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let fields = fields
        var children = fields.prefix(Self.mostPrinted).map { field in
            let isPlain = Self.plainNames.contains(field.name.lowercased())
            return (label: field.name.escapedForDisplay as String?, value: (isPlain ? field.value.escapedForDisplay : "•••") as Any)
        }
        if fields.count > children.count { children.append(("…", "and \(fields.count - children.count) more")) }
        return Mirror(self, children: children, displayStyle: .struct)
    }

    /// A stranger may send thousands.
    private static let mostPrinted = 40
    private static let plainNames: Set = [
        "accept-ranges", "age", "cache-control", "content-encoding", "content-language", "content-length", "content-range", "content-type",
        "date", "etag", "expires", "last-modified", "retry-after", "server", "vary",
    ]
}
