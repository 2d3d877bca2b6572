// For `timespec`, which Swift takes to be this module's because its headers define it too.
internal import CEpoll
internal import GannetBase
import Glibc

/// The clock of one server under test: real time, or the moment at which the test stopped it, plus an offset that the test chooses.
///
/// Only the calendar clock moves, which is what `TIME`, key expiry and scripts go by. A server with such a clock asks the kernel for
/// every time, without the vDSO: it is not one to take measurements on.
package final class MovableClock: Sendable {
    /// The variables that the server has to be started with.
    let environment: [String: String]

    /// The mapped offset in nanoseconds and, after it, the moment at which the clock was stopped, or 0; an address, as pointers are not
    /// Sendable. The lock serialises writers; the reader in the server loads each aligned word at once.
    private let address: Mutex<UInt>

    /// A server that is started again opens its file again.
    private let folder: TemporaryFolder

    private static let size = 16

    package init(in folder: TemporaryFolder) async throws {
        self.folder = folder
        let path = try folder.write([UInt8](repeating: 0, count: Self.size), to: "clock")
        environment = ["GANNET_CLOCK_FILE": path, "LD_PRELOAD": try await ClockShim.path()]
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw KitError.system("cannot open \(path)", errno) }
        defer { close(file) }
        guard let map = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED else {
            throw KitError.system("cannot map \(path)", errno)
        }
        address = Mutex(UInt(bitPattern: map))
    }

    deinit {
        address.withLock { _ = munmap(UnsafeMutableRawPointer(bitPattern: $0), Self.size) }
    }

    /// Moves the clock, forwards or, with a negative duration, backwards. The server sees it with its next look at the clock.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        address.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)!.pointee += nanoseconds }
    }

    /// Stops the clock: from now on it goes only as far as `advance(by:)` moves it, so that the same calls leave the same state.
    package func stop() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let moment = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        address.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)![1] = moment }
    }

    /// Lets it go on with real time, as if it had never been moved or stopped.
    func reset() {
        address.withLock { address in
            let words = UnsafeMutablePointer<Int64>(bitPattern: address)!
            (words[0], words[1]) = (0, 0)
        }
    }

    /// How far it was moved.
    package var offset: Duration {
        .nanoseconds(address.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)!.pointee })
    }
}

/// The preloaded library behind `MovableClock`, compiled once per test process: some 50 ms, and no cache that could be stale, left
/// behind or written by somebody else.
enum ClockShim {
    private static let built = Task { () async throws -> (folder: TemporaryFolder, path: String) in
        let folder = try TemporaryFolder()
        let source = try folder.write(PackageResources.clock_shim_c, to: "clock-shim.c")
        let library = folder.file("clock.so")
        try await ChildProcess.succeed(Program.compiler(), ["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source])
        return (folder, library)
    }

    static func path() async throws -> String {
        try await built.value.path
    }
}
