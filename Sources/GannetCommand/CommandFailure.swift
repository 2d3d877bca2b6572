/// Why a command stops: its exit status and one sentence for standard error.
struct CommandFailure: Error, Sendable, Equatable {
    let status: ExitStatus
    /// Nil where nothing is left to say, or nobody to say it to.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// Whoever read our standard output has seen enough.
    static let outputClosed = CommandFailure(.done, nil)
}
