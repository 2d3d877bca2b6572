internal import GannetBase

/// The bodies that were written, by their digests. Its memory is bounded: the oldest is forgotten first.
struct PayloadMemory {
    struct Original: Sendable, Equatable {
        let recordID: UUID
        let time: WARCTime
        let url: String
    }

    let limit: Int
    let urlBytesLimit: Int
    private var originals: [[UInt8]: Original] = [:]
    private var order = Fifo<[UInt8]>()
    private(set) var urlBytes = 0

    init(limit: Int, urlBytesLimit: Int) {
        self.limit = limit
        self.urlBytesLimit = urlBytesLimit
    }

    var count: Int { originals.count }

    subscript(digest: [UInt8]) -> Original? { originals[digest] }

    /// Remembers the first of equal bodies.
    mutating func add(_ digest: [UInt8], _ original: Original) {
        // One long URL does not push a thousand others out.
        guard limit > 0, original.url.utf8.count <= urlBytesLimit / 64, originals[digest] == nil else { return }
        originals[digest] = original
        order.append(digest)
        urlBytes += original.url.utf8.count
        while originals.count > limit || urlBytes > urlBytesLimit, let oldest = order.popFirst() {
            urlBytes -= originals.removeValue(forKey: oldest)?.url.utf8.count ?? 0
        }
    }
}
