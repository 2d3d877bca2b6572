internal import HTTPEngine

/// Prints without the proxy's password, whoever prints it: in a log, in a dump, or as a part of something else.
extension FetcherOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "memoryLimit": memoryLimit, "memoryCount": memoryCount, "diskFolder": diskFolder as Any, "diskLimit": diskLimit,
            "shared": shared == nil ? "none" : "set", "freshness": freshness, "fetch": fetch, "imageLimits": imageLimits,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
