import GannetBase

/// The descriptors, environment and signals that a command has: those of the process, unless its caller gives it others.
///
/// Tests run many commands side by side in one process. Each of them has surroundings of its own.
struct Surroundings: Sendable {
    var input = STDIN_FILENO
    var output = STDOUT_FILENO
    var errors = STDERR_FILENO
    var environment: [String: String]
    /// The file of this program, which starts some of its parts as processes. Nil is the file that this process runs from.
    var program: String?
    /// Makes the stream of signals for a command that ends in order.
    var requests: @Sendable () throws -> AsyncStream<ExitStatus> = { try SignalTrap.requests() }

    /// A thread of our own has no task, and finds the process here: read it before the thread starts.
    @TaskLocal static var current = Surroundings(environment: ProcessInfo.processInfo.environment)
}
