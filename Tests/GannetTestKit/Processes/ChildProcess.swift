import Foundation
internal import GannetBase

/// A real program, started by a test and never outliving it.
///
/// It has a process group of its own, which ends with it: when its first process exits, the rest of the group is killed. The process is killed
/// when its last reference goes. When the test process ends, however it ends, the `Watchdog` kills it.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum ExitStatus: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// The processor time and memory of a process until its end, with those of the children that it waited for.
    package struct Usage: Sendable {
        package let cpuTime: Duration
        /// In bytes. It is at least what the process that started this one had at that moment, because a program takes this figure over.
        package let peakMemory: Int
    }

    private struct End: Sendable {
        let status: ExitStatus
        let usage: Usage
    }

    /// Where a stream of the child goes.
    package enum Output: Sendable {
        /// Into `output` or `errors`.
        case collected
        /// To the file at this path, appended.
        case file(String)
        case discarded
        /// To the same stream of the test process.
        case inherited
    }

    /// The program and its surroundings.
    package struct Options: Sendable {
        /// A path, or a name to look for in `PATH` and the usual folders of servers.
        package var program: String
        package var arguments: [String]
        /// The whole environment; nil is that of the test process.
        package var environment: [String: String]?
        /// The working folder; nil is that of the test process.
        package var folder: String?
        /// A file to read standard input from; nil is nothing.
        package var input: String?
        package var output: Output = .collected
        package var errors: Output = .collected

        package init(
            _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, folder: String? = nil,
            input: String? = nil, output: Output = .collected, errors: Output = .collected
        ) {
            self.program = program
            self.arguments = arguments
            self.environment = environment
            self.folder = folder
            self.input = input
            self.output = output
            self.errors = errors
        }
    }

    /// The number of the process and of its group.
    package let pid: Int32

    /// Collected standard output; empty and finished when it goes elsewhere.
    package let output = LineLog()

    /// Collected standard error; empty and finished when it goes elsewhere.
    package let errors = LineLog()

    /// nil while it runs. Signals are sent under the lock in which the process is reaped, so never to a number that is another's by now.
    private let end = Monitor<End?>(nil)

    package init(_ options: Options) throws(KitError) {
        guard let program = Program.find(options.program) else {
            throw KitError("\(options.program) is not installed: Scripts/setup --tests installs what tests need")
        }
        let watchdog = try Watchdog.started()
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }

        func openFile(_ path: String, _ flags: Int32) throws(KitError) -> Int32 {
            let descriptor = open(path, flags | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .system("cannot open \(path)", errno) }
            opened.append(descriptor)
            return descriptor
        }
        // The child's end, and ours when the stream is collected.
        func descriptors(for stream: Output, inherited: Int32) throws(KitError) -> (child: Int32, ours: Int32?) {
            switch stream {
            case .collected:
                let ends = try makePipe()
                opened.append(ends.write)
                return (ends.write, ends.read)
            case .file(let path): return (try openFile(path, O_WRONLY | O_CREAT | O_APPEND), nil)
            case .discarded: return (try openFile("/dev/null", O_WRONLY), nil)
            case .inherited: return (inherited, nil)
            }
        }

        let input = try openFile(options.input ?? "/dev/null", O_RDONLY)
        let output = try descriptors(for: options.output, inherited: 1)
        let errors = try descriptors(for: options.errors, inherited: 2)
        let (isRegistered, registering) = try makeChannel()
        defer { close(isRegistered) }
        let shell = ["/bin/sh", "-c", Watchdog.registration, program, options.folder ?? ".", program]
        do throws(KitError) {
            defer { close(registering) }
            pid = try spawn(
                shell + options.arguments, environment: options.environment,
                descriptors: [input, output.child, errors.child, watchdog.channel, registering])
        } catch {
            for descriptor in [output.ours, errors.ours] { descriptor.map { _ = close($0) } }
            throw error
        }
        // A millisecond, and the end of it is certain: the child has registered or is gone.
        _ = try? Socket.receive(from: isRegistered)
        for (log, descriptor) in [(self.output, output.ours), (self.errors, errors.ours)] {
            if let descriptor { log.collect(from: descriptor) } else { log.finish() }
        }
        Self.awaitExit(of: pid, end: end, watchdog: watchdog)
    }

    deinit {
        kill()
    }

    /// Sends `number` to the process, not to its group. Does nothing when it has ended.
    package func signal(_ number: Int32) {
        let pid = pid
        end.update { if $0 == nil { _ = sendSignal(pid, number) } }
    }

    /// Asks it to end.
    package func terminate() { signal(SIGTERM) }

    /// Ends it and its group at once.
    package func kill() {
        let pid = pid
        end.update { if $0 == nil { _ = sendSignal(-pid, SIGKILL) } }
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { end.update { $0 == nil } }

    /// Waits until it has ended.
    package var exitStatus: ExitStatus {
        get async throws { try await end.wait { $0 }.status }
    }

    /// Waits until it has ended.
    package var usage: Usage {
        get async throws { try await end.wait { $0 }.usage }
    }

    private static func awaitExit(of pid: pid_t, end: Monitor<End?>, watchdog: Watchdog) {
        OwnedThread.start(name: "test-kit") {
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            // Still unreaped, so the number is still this process' own.
            _ = sendSignal(-pid, SIGKILL)
            watchdog.forget(group: pid)
            end.update { end in
                var code: Int32 = 0
                var used = rusage()
                while wait4(pid, &code, 0, &used) < 0 && errno == EINTR {}
                let signal = code & 0x7f
                end = End(status: signal == 0 ? .exited((code >> 8) & 0xff) : .signalled(signal), usage: Usage(used))
            }
        }
    }
}

extension ChildProcess.Usage {
    fileprivate init(_ used: rusage) {
        cpuTime =
            .seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + .microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec)
        peakMemory = used.ru_maxrss * 1024
    }
}

/// A process with a group of its own. All descriptors are closed on exec here.
func spawn(_ words: [String], environment: [String: String]? = nil, descriptors: [Int32]) throws(KitError) -> pid_t {
    let pid = Spawn(words[0], words: words, environment: environment, descriptors: descriptors, group: .own).start()
    guard pid > 0 else { throw .system("cannot start \(words[0])", -pid) }
    return pid
}

private func sendSignal(_ pid: pid_t, _ number: Int32) -> Int32 {
    kill(pid, number)
}

extension ChildProcess {
    /// The status and output of a program that has ended.
    package struct Outcome: Sendable {
        package let status: ExitStatus
        package let output: String
        package let errors: String
        package let usage: Usage
    }

    /// Runs a program to its end. A cancelled caller kills it.
    package static func run(_ options: Options) async throws -> Outcome {
        let child = try ChildProcess(options)
        let status = try await child.exitStatus
        try await child.output.finished()
        try await child.errors.finished()
        return Outcome(status: status, output: child.output.text, errors: child.errors.text, usage: try await child.usage)
    }

    /// Runs a program that has to succeed; answers its standard output.
    @discardableResult
    package static func succeed(_ program: String, _ arguments: [String], folder: String? = nil) async throws -> String {
        let outcome = try await run(Options(program, arguments, folder: folder))
        guard outcome.status == .exited(0) else {
            throw KitError("\(program) \(arguments.joined(separator: " ")) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome.output
    }
}

/// Where programs are.
package enum Program {
    /// The path of a program: `PATH`, then where servers are on Debian, which an ordinary user's `PATH` may lack.
    package static func find(_ name: String) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin", "/usr/local/sbin"]
        return folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The path of a C compiler. The toolchain's own counts too.
    package static func compiler() throws(KitError) -> String {
        guard let path = ["cc", "gcc", "clang"].lazy.compactMap(find).first else {
            throw KitError("no C compiler (cc, gcc or clang): Scripts/setup --tests installs one")
        }
        return path
    }

    /// The path of a program of this package, which is built beside the tests. It is found by where the tests themselves lie.
    package static func built(_ name: String) -> String {
        let bundles = CommandLine.arguments + Bundle.allBundles.map(\.bundlePath)
        let folders = bundles.compactMap { bundle in bundle.firstRange(of: ".xctest").map { bundle[..<$0.lowerBound] } }
            .compactMap { path in path.lastIndex(of: "/").map { path[..<$0] } }
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } ?? "\(name), which is not beside the tests"
    }
}
