extension Mirror {
    /// The text of a value that prints as its mirror shows it, in the form in which Swift prints a struct.
    package var printed: String {
        let values = children.map { child in "\(child.label.map { "\($0): " } ?? "")\(String(reflecting: child.value))" }
        return "\(subjectType)(\(values.joined(separator: ", ")))"
    }
}
