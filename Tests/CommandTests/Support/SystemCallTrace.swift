import Foundation
import GannetBase
import GannetTestKit

/// A program that is held at one of its first system calls while a test does something to it, and then goes on alone.
///
/// The kernel takes the calls of a tracer from one thread only, so all of it runs on a thread of its own. No other thread may wait for the process.
enum SystemCallTrace {
    private typealias Trace = @convention(c) (Int, Int, Int, Int) -> Int
    private static let seize = 0x4206
    private static let goOn = 7
    private static let goOnToCall = 24
    private static let detach = 17
    /// Calls are told from signals, and the start of a program is told.
    private static let options = 0x1 | 0x10
    private static let waitForAll = Int32(0x4000_0000)

    /// Starts the program without a standard input, and holds it at its calls until `isReached`.
    /// - Parameters:
    ///   - isReached: Is asked at each system call, of which it has the number, counted from the program's first instruction on.
    ///   - act: What the test does to the held program.
    /// - Returns: The end of the program.
    static func run(
        _ words: [String], environment: [String: String], until isReached: @escaping @Sendable (pid_t, Int) -> Bool,
        act: @escaping @Sendable (pid_t) -> Void
    ) async throws -> ChildProcess.ExitStatus {
        try await withCheckedContinuation { continuation in
            OwnedThread.start(name: "test-trace") {
                continuation.resume(returning: Result { try trace(words, environment, isReached, act) })
            }
        }.get()
    }

    private static func trace(
        _ words: [String], _ environment: [String: String], _ isReached: (pid_t, Int) -> Bool, _ act: (pid_t) -> Void
    ) throws -> ChildProcess.ExitStatus {
        // The C function takes a variable number of arguments, which Swift does not import.
        guard let symbol = dlsym(nil, "ptrace"), let input = Descriptor.pipe(), let output = Descriptor.pipe() else {
            throw KitError("there is no ptrace, or no pipe")
        }
        let ptrace = unsafeBitCast(symbol, to: Trace.self)
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for end in [input.write, output.read, null] { close(end) } }
        let script = "echo; read line; exec \"$0\" \"$@\" <&-"
        let pid = Spawn(
            "/bin/sh", words: ["sh", "-c", script] + words, environment: environment, descriptors: [input.read, output.write, null],
            group: .own
        ).start()
        for end in [input.read, output.write] { close(end) }
        guard pid > 0 else { throw KitError("cannot start: \(-pid)") }
        do {
            // The shell waits for a line now.
            guard Descriptor.contents(of: output.read, atMost: 1) == [10], ptrace(seize, Int(pid), 0, options) == 0 else {
                throw KitError("cannot trace: \(errno)")
            }
            _ = Descriptor.writeAll("\n", to: input.write)
            var calls: Int?
            while true {
                let (signal, event) = try stop(pid)
                let isCall = signal == SIGTRAP | 0x80
                if event != 0 { calls = 0 }
                if isCall, let number = calls {
                    calls = number + 1
                    if isReached(pid, number) { break }
                }
                let passed = isCall || event != 0 ? 0 : Int(signal)
                guard ptrace(calls == nil ? goOn : goOnToCall, Int(pid), 0, passed) == 0 else { throw KitError("cannot go on: \(errno)") }
            }
            act(pid)
            guard ptrace(detach, Int(pid), 0, 0) == 0 else { throw KitError("cannot let go: \(errno)") }
        } catch {
            kill(pid, SIGKILL)
            _ = end(pid)
            throw error
        }
        return end(pid)
    }

    /// Waits until the process is held.
    private static func stop(_ pid: pid_t) throws -> (signal: Int32, event: Int32) {
        var status: Int32 = 0
        guard waitpid(pid, &status, waitForAll) == pid, status & 0xff == 0x7f else {
            throw KitError("it ended while it was traced: \(status)")
        }
        return ((status >> 8) & 0xff, status >> 16)
    }

    private static func end(_ pid: pid_t) -> ChildProcess.ExitStatus {
        var status: Int32 = 0
        while waitpid(pid, &status, waitForAll) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .signalled(status & 0x7f)
    }
}
