import Crawl
import GannetBase

/// Results to standard output, everything else to standard error.
struct Console: Sendable {
    let log: LogOptions

    /// Standard error; all copies of a console have the same.
    let live = LiveOutput()

    /// Read once: callers on threads of our own have no task.
    private let surroundings = Surroundings.current

    init(_ verbosity: Verbosity = .normal) { self.init(LogOptions(verbosity)) }

    init(_ log: LogOptions) { self.log = log }

    var verbosity: Verbosity { log.verbosity }

    /// Where something may be drawn for somebody who looks on.
    var terminal: Terminal? {
        verbosity == .quiet || log.format == .json ? nil : Terminal(surroundings.errors, environment: surroundings.environment)
    }

    /// Columns of the terminal that results are printed on; `nil` where standard output is something else.
    var columns: Int? { Terminal(surroundings.output, environment: surroundings.environment)?.size.columns }

    /// Results in sentences. On a terminal their lines break between words.
    /// - Parameter indent: Blanks before each further line of a line that breaks.
    func print(prose text: String, indent: Int = 0) throws(CommandFailure) {
        try print(columns.map { text.wrapped(to: $0, indent: indent) } ?? text)
    }

    /// The last of the results of a command whose status is known, in sentences.
    func print(prose text: String, last status: ExitStatus) throws(CommandFailure) -> ExitStatus {
        try print(columns.map { text.wrapped(to: $0) } ?? text, last: status)
    }

    /// Results in rows. On a terminal long entries of the last column break between words.
    func print(_ table: TextTable) throws(CommandFailure) { try print(table.text(columns: columns)) }

    /// A line of results. A reader that has left ends the command quietly; a full disk does not.
    func print(_ line: String) throws(CommandFailure) {
        try print(bytes: Array("\(line)\n".utf8))
    }

    /// The last of the results of a command whose status is known: a reader that has left does not change it.
    func print(_ line: String, last status: ExitStatus) throws(CommandFailure) -> ExitStatus {
        do throws(CommandFailure) {
            try print(line)
        } catch  where error == .outputClosed {
            return status
        }
        return status
    }

    /// A result as it is.
    func print(bytes: [UInt8]) throws(CommandFailure) {
        switch live.aside({ Descriptor.writeAll(bytes[...], to: surroundings.output) }) {
        case nil: return
        case EPIPE?: throw .outputClosed
        case let code?: throw CommandFailure(.cannotWrite, "Standard output cannot be written: \(Descriptor.message(code)).")
        }
    }

    /// News for people who watch; silent with `--quiet`.
    func note(_ line: String, _ facts: LogFacts = []) {
        if verbosity > .quiet { say(LogLine(level: .info, message: line, prefix: Self.name, facts: facts)) }
    }

    /// Details; only with `--verbose`. There is one for each job, so it is not even put together without that.
    func detail(_ line: @autoclosure () -> String, _ facts: @autoclosure () -> LogFacts = []) {
        guard verbosity == .verbose else { return }
        say(LogLine(level: .debug, message: line(), prefix: Self.name, facts: facts(), shown: Self.jobNames))
    }

    /// A warning, which also `--quiet` shows.
    func warn(_ line: String, _ facts: LogFacts = []) {
        say(LogLine(level: .warning, message: line, prefix: Self.name, facts: facts))
    }

    /// A failure of one job or row, in a line without the program's name.
    func complain(_ line: String, _ facts: LogFacts = []) {
        say(LogLine(level: .error, message: line, facts: facts, shown: verbosity == .verbose ? Self.jobNames : []))
    }

    /// A question, whose answer stands behind it on the same line.
    func ask(_ question: String) {
        live.write(question)
    }

    func error(_ sentence: String) {
        say(LogLine(level: .error, message: sentence, prefix: "Error: "))
    }

    func error(_ usage: UsageError) {
        switch log.format {
        case .text: write(usage.text.withoutSteering + "\n")
        case .json: error(usage.message)
        }
    }

    private static let name = "gannet: "
    private static let jobNames = [JobLabel.idKey, "batch"]

    private func say(_ line: LogLine) { write(line.text(in: log.format, at: .now)) }

    /// People at a terminal get lines that break between words.
    private func write(_ text: String) {
        let columns = log.format == .text ? Terminal(surroundings.errors, environment: surroundings.environment)?.size.columns : nil
        live.write(columns.map { text.wrapped(to: $0) } ?? text)
    }
}
