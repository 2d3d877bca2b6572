/// Prints without passwords, whoever prints it: in a log, in a dump, or as a part of something else.
extension DownloadRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["url": RedactedURL(url).description, "body": body, "headers": headers], displayStyle: .struct)
    }
}
