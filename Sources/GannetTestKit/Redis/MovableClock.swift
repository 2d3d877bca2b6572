#if canImport(Glibc)
import Glibc
internal import Threads

/// The clock of one server under test: real time plus an offset that the test chooses.
///
/// Only the calendar clock moves, which is what `TIME`, key expiry and scripts go by. A server with such a clock asks the kernel for
/// every time, without the vDSO: it is not one to take measurements on.
package final class MovableClock: Sendable {
    /// What the server has to be started with.
    let environment: [String: String]

    /// The mapped offset in nanoseconds; an address, as pointers are not Sendable. The lock serialises writers; the reader in the
    /// server loads the aligned word at once.
    private let offsetAddress: Mutex<UInt>

    /// The offset, and the time at which the clock stands still.
    private static let mappedBytes = 16

    init(in folder: TemporaryFolder) async throws {
        let path = try folder.write([UInt8](repeating: 0, count: Self.mappedBytes), to: "clock")
        environment = ["GANNET_CLOCK_FILE": path, "LD_PRELOAD": try await ClockShim.path()]
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw KitError.system("cannot open \(path)", errno) }
        defer { close(file) }
        guard let map = mmap(nil, Self.mappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED else {
            throw KitError.system("cannot map \(path)", errno)
        }
        offsetAddress = Mutex(UInt(bitPattern: map))
    }

    deinit {
        offsetAddress.withLock { _ = munmap(UnsafeMutableRawPointer(bitPattern: $0), Self.mappedBytes) }
    }

    /// Moves the clock, forwards or, with a negative duration, backwards. The server sees it with its next look at the clock.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        offsetAddress.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)!.pointee += nanoseconds }
    }

    /// Lets the clock stand still from now on: only `advance` moves it.
    package func stop() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let nanoseconds = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        offsetAddress.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)![1] = nanoseconds }
    }

    /// How far the clock is from real time.
    package var offset: Duration {
        .nanoseconds(offsetAddress.withLock { UnsafeMutablePointer<Int64>(bitPattern: $0)!.pointee })
    }
}
#endif
