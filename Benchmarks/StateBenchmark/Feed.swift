import GannetQueue

/// Jobs by number. They are made as they are needed: ten million of them would not fit beside the queue that holds them.
enum Feed {
    /// A job with a URL of 56 bytes, of the host of that number.
    static func entry(_ number: Int, host: Int) throws -> JobEntry {
        let name = "h\(digits(host, 6)).example"
        return try JobEntry(id: id(number), host: name, url: "http://\(name)/\(digits(number, 33))")
    }

    /// As different from each other as digests are, and the same for the same number.
    private static func id(_ number: Int) -> URLID {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for half in 1...2 as ClosedRange<UInt64> {
            var mixed = UInt64(number) &* 2 &+ half
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            mixed ^= mixed >> 31
            withUnsafeBytes(of: mixed) { bytes.append(contentsOf: $0) }
        }
        return URLID(bytes)!
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { buffer in
            var rest = number
            for index in (0..<count).reversed() {
                buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return count
        }
    }
}

extension FetchQueue {
    /// Accepts jobs in order, as the whole of a batch.
    func fill(_ batch: String, _ count: Int, _ entry: (Int) throws -> JobEntry) async throws {
        var progress = try await begin(batch: batch)
        for start in stride(from: 0, to: count, by: Self.largestChunk) {
            let end = min(count, start + Self.largestChunk)
            let rows = try (start..<end).map { (entry: try entry($0), row: $0 + 1) }
            _ = try await enqueue(rows, to: end, of: &progress, closing: end == count)
        }
    }
}
