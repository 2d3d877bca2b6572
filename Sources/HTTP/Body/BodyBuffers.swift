/// Memory of the last large bodies, to be used again for the next.
///
/// New memory costs a fault for each page of 4 KB, which is more than the rest of a transfer of 1 MB. Callers mostly drop a body soon, and
/// then the next one takes its place. A body that its caller still has is left alone: the array is copied on write, without its old bytes.
final class BodyBuffers {
    /// Smaller ones the allocator has at hand.
    static let smallest = 64 << 10
    static let largest = 4 << 20
    /// The sum of the kept ones. As many as end before the next begin are enough.
    static let most = 16 << 20
    /// They are dropped when no large body has ended for this long.
    static let idleTime = Duration.seconds(1)

    /// The longest kept first: its caller has most likely dropped it.
    private var kept: [[UInt8]] = []
    private var sum = 0
    /// When all are to be dropped; nil without one.
    private(set) var deadline: ContinuousClock.Instant?

    var count: Int { kept.count }

    /// An empty array with room for so many bytes, and little more.
    func take(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        if count >= Self.smallest, let index = kept.firstIndex(where: { count...(count + count / 8) ~= $0.capacity }) {
            bytes = kept.remove(at: index)
            sum -= bytes.capacity
            bytes.removeAll(keepingCapacity: true)
        }
        bytes.reserveCapacity(count)
        return bytes
    }

    /// Keeps the memory of a body that its caller gets.
    func keep(_ bytes: [UInt8], at now: @autoclosure () -> ContinuousClock.Instant = .now) {
        guard Self.smallest...Self.largest ~= bytes.capacity else { return }
        deadline = now() + Self.idleTime
        kept.append(bytes)
        sum += bytes.capacity
        while sum > Self.most { sum -= kept.removeFirst().capacity }
    }

    /// Drops all when the deadline has passed.
    func drop(at now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        kept = []
        sum = 0
    }
}
