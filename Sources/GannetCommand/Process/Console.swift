import Foundation

/// Results to standard output, everything else to standard error.
struct Console: Sendable {
    let verbosity: Verbosity

    /// Standard error; all copies of a console have the same.
    let live = LiveOutput()

    init(_ verbosity: Verbosity = .normal) {
        self.verbosity = verbosity
    }

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
        switch live.aside({ Descriptor.writeAll(bytes[...], to: STDOUT_FILENO) }) {
        case nil: return
        case EPIPE?: throw .outputClosed
        case let code?: throw CommandFailure(.cannotWrite, "Standard output cannot be written: \(Descriptor.message(code)).")
        }
    }

    /// For people who watch; silent with `--quiet`.
    func note(_ line: String) {
        if verbosity > .quiet { error(text: "gannet: \(line)") }
    }

    /// For people who look for something; only with `--verbose`.
    func detail(_ line: String) {
        if verbosity == .verbose { error(text: "gannet: \(line)") }
    }

    /// A question, whose answer stands behind it on the same line.
    func ask(_ question: String) {
        live.write(question)
    }

    func error(_ sentence: String) {
        error(text: "Error: \(sentence)")
    }

    /// Sentences quote what servers and users wrote; none of that shall reach a terminal as a command to it.
    func error(text: String) {
        live.write(text.withoutSteering + "\n")
    }
}
