extension HeaderField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The line as it is sent, without the value of a header that says who somebody is.
    public var description: String { "\(name): \(printedValue)" }
    public var debugDescription: String { customMirror.printed }
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "value": printedValue], displayStyle: .struct) }

    private var printedValue: String { isCredential ? "•••" : value }
}
