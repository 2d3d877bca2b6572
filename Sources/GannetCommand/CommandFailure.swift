/// Why a command stops: its exit status and one sentence for standard error.
struct CommandFailure: Error, Sendable, Equatable {
    let status: ExitStatus
    /// Nil when there is nothing left to say, or no reader.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// The reader of standard output has left.
    static let outputClosed = CommandFailure(.done, nil)
}
