internal import HTTPEngine

/// Prints without the password, whoever prints it: in a log, in a dump, or as a part of something else.
extension RedisCacheOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "redis": RedactedURL(address: redis).description, "passwordFile": passwordFile as Any, "authorityFile": authorityFile as Any,
            "namespace": namespace, "lease": lease, "bodyLimit": bodyLimit,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
