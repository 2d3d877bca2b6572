/// Why a part of the test kit could not do its work: one sentence, with the output of the program concerned when there is any.
package struct KitError: Error, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The error of the system call that has just failed.
    static func system(_ what: String, _ code: Int32) -> KitError {
        KitError("\(what): \(String(cString: systemErrorText(code)))")
    }
}
