/// Why a text is not a value of the wanted type: the second half of an error sentence, such as "use a whole number".
package struct InvalidValue: Error, Equatable, Sendable {
    /// Lower case, with its full stop.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
