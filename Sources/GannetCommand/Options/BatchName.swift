import CommandLineKit

extension ValueType where Value == String {
    /// A name of one's own for what is enqueued together.
    static var batchName: Self {
        Self("id") { (text) throws(InvalidValue) in
            guard 1...128 ~= text.utf8.count, text.utf8.allSatisfy({ 33...126 ~= $0 }) else {
                throw InvalidValue("use 1 to 128 printable ASCII characters without blanks.")
            }
            return text
        }
    }
}

/// The one batch that a command is about.
enum BatchArgument {
    static let positional = Positional("batch", isSingle: true, "The batch, as 'enqueue' named it and 'batch list' shows it.")

    static func unknown(_ name: String, _ queue: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "There is no batch \(Sentence.quoted(name)) in the queue '\(queue)'; 'gannet batch list' shows those there are.")
    }
}
