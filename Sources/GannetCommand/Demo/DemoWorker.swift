import Foundation
internal import Threads

/// A worker process of the demonstration, and what it has said of itself.
final class DemoWorker: Sendable {
    let name: String
    private let process: Mutex<Process>
    private let tally = Tally()
    private let ended: AsyncStream<Void>

    private final class Tally: Sendable {
        let fetched = Mutex(0)
    }

    /// How many requests each has in flight.
    static let concurrency = 6
    static let lease = Duration.seconds(3)

    init(_ name: String, redis: String, home: String) throws(CommandFailure) {
        self.name = name
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Executable.path)
        process.arguments = [
            "work", "--redis", redis, "--allow-net", "127.0.0.0/8", "--allow-net", "::1", "--concurrency", "\(Self.concurrency)",
            "--host-limit", "9",
            "--lease", "\(Self.lease.components.seconds)s", "--verbose",
        ]
        // Nothing of the environment's is the demonstration's.
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": home, "GANNET_HOME": home]
        let errors = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        let (ended, ender) = AsyncStream.makeStream(of: Void.self)
        self.ended = ended
        process.terminationHandler = { _ in ender.finish() }
        self.process = Mutex(process)
        errors.fileHandleForReading.readabilityHandler = { [tally] handle in
            let text = String(decoding: handle.availableData, as: UTF8.self)
            let count = text.split(separator: "\n").count { $0.hasPrefix("gannet: fetched ") }
            tally.fetched.withLock { $0 += count }
        }
        do {
            try process.run()
        } catch {
            throw CommandFailure(.unavailable, "A worker cannot be started: \(error.localizedDescription).")
        }
    }

    var fetchedPages: Int { tally.fetched.withLock { $0 } }

    /// As when its machine loses power.
    func kill() {
        process.withLock { process in
            if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
        }
    }

    /// Asks it to end in good order.
    func stop() {
        process.withLock { process in
            if process.isRunning { process.terminate() }
        }
    }

    func waitUntilEnded() async { for await _ in ended {} }
}
