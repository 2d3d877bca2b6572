internal import HTTPEngine

/// Prints without passwords, whoever prints it: in a log, in a dump, or as a part of something else.
extension FetchRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "url": RedactedURL(url).description, "headers": headers, "maximumAge": maximumAge as Any, "refresh": refresh,
            "priority": priority,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
