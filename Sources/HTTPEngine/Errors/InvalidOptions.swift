/// Why options cannot be used, as a sentence.
public struct InvalidOptions: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String

    package init(_ description: String) { self.description = description }
}
