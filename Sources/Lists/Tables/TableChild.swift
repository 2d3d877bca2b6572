internal import GannetBase

/// A `python3` that runs a script. It does not outlive this object.
package final class TableChild: Sendable {
    private struct State {
        var isThere = true
    }

    let pid: pid_t
    private let problems: Int32
    private let program: String
    private let state = Mutex(State())

    /// A script ends at once when it has written everything. After this time it is taken to hang.
    package static let endPatience = Duration.seconds(30)

    /// - Parameter problems: The read end of the pipe that takes problems. It becomes the child's own.
    init(_ pid: pid_t, problems: Int32, program: String) {
        self.pid = pid
        self.problems = problems
        self.program = program
    }

    deinit {
        kill()
        close(problems)
    }

    /// Ends the process, if it is still there. Blocks for a moment.
    package func kill() {
        state.withLock { state in
            guard state.isThere else { return }
            state.isThere = false
            _ = endProcess(pid, SIGKILL)
            _ = Self.status(of: pid)
        }
    }

    /// Waits for the end of a child that has closed its output. Blocks.
    /// - Throws: ``TableFailure``, unless the script has done all of its work.
    package func finish(within patience: Duration = TableChild.endPatience) throws(TableFailure) {
        let words = said(until: .now + patience)
        let status: Int32? = state.withLock { state in
            guard state.isThere else { return nil }
            state.isThere = false
            if words == nil { _ = endProcess(pid, SIGKILL) }
            return Self.status(of: pid)
        }
        guard let words else { throw .program("it did not end") }
        guard let status else { throw .program("it was ended") }
        if let failure = TableFailure(words: words, program: program) { throw failure }
        let signal = status & 0x7F
        guard signal == 0 else { throw .program("signal \(signal) ended it") }
        guard status == 0 else { throw .program("it ended with status \(status >> 8 & 0xFF)") }
    }

    /// The script's words about a problem, up to the end of the process; nil when it does not end.
    private func said(until deadline: ContinuousClock.Instant) -> [UInt8]? {
        var words: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while words.count < 1 << 20 {
            let left = max(.zero, deadline - .now) / Duration.milliseconds(1)
            guard Descriptor.wait(for: Int16(POLLIN), on: problems, milliseconds: Int32(left.rounded(.up))) else { return nil }
            let count = read(problems, &buffer, buffer.count)
            if count > 0 { words += buffer[..<count] } else if count == 0 || errno != EINTR { break }
        }
        return words
    }

    private static func status(of pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}

// Inside the type its own function hides that of C.
private func endProcess(_ pid: pid_t, _ signal: Int32) -> Int32 { kill(pid, signal) }
