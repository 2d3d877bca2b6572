/// A queue's status over and over, for what is no terminal: a file, a pipe, a log.
struct RepeatedStatus: Sendable {
    private let source: StatusSource
    private let interruption: Interruption
    private let console: Console
    private let text: @Sendable (StatusReport) -> String

    private static let pause = Duration.seconds(2)

    init(_ source: StatusSource, _ interruption: Interruption, _ console: Console, text: @escaping @Sendable (StatusReport) -> String) {
        self.source = source
        self.interruption = interruption
        self.console = console
        self.text = text
    }

    /// Until a signal ends it, or nobody reads it any more.
    func run() async throws(CommandFailure) -> ExitStatus {
        let course = await interruption.cancelling { () async throws -> Void in
            var isAway = false
            while true {
                do throws(CommandFailure) {
                    let status = try await source.look()
                    if isAway { console.note("Redis is back.") }
                    isAway = false
                    try console.print(text(status))
                } catch {
                    guard error.status == .unavailable else { throw error }
                    if !isAway { console.error(error.message ?? "Redis is away.") }
                    isAway = true
                }
                try await Task.sleep(for: Self.pause)
            }
        }
        _ = try course.get(unlessInterrupted: interruption)
        return interruption.status
    }
}
