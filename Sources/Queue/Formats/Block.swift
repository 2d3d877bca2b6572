internal import GannetBase

/// Jobs of one host and one batch, as they lie in Redis. `Scripts/Parts/blocks.lua` describes the bytes and reads the same.
package struct Block {
    package static let mostJobs = 64

    private enum Flags {
        static let https: UInt8 = 1, headers: UInt8 = 2, many: UInt8 = 4, whole: UInt8 = 8
        static let retry: UInt8 = 16, back: UInt8 = 32
        static let base: UInt8 = 64, last: UInt8 = 127
    }

    /// Ms between 1970 and 2020, where the times in blocks begin.
    private static let epoch = 1_577_836_800_000

    package let batch: Int
    /// In queue time, ms.
    package let enqueued: Int
    package let host: String
    /// Whether the batch's requests have headers of their own.
    package let hasHeaders: Bool
    /// The state of a job that follows its URL. A job that came back without a charge of its own waits for a worker, and is ready.
    package let followerState: JobState
    private let isHTTPS: Bool
    private let isWhole: Bool
    private let isMany: Bool
    package private(set) var count: Int
    package let bytes: [UInt8]
    private var reader: ByteReader

    /// A tombstone stands in a list in place of a deleted block, so that the positions of the others stay the same.
    static let gone = [UInt8(ascii: "t")]

    /// Reads what the jobs have in common; `nil` for bytes that are no block.
    package init?(_ bytes: some Collection<UInt8>) {
        // A URL to carry on stands in a list as its id, and some ids look like the beginning of a block.
        guard bytes.count > URLID.count else { return nil }
        self.bytes = Array(bytes)
        reader = ByteReader(self.bytes)
        guard let kind = reader.byte(), Flags.base...Flags.last ~= kind, let batch = reader.number(4), let enqueued = reader.number(5),
            let length = reader.number(1), let host = reader.bytes(length)
        else { return nil }
        followerState = kind & Flags.back != 0 ? .ready : kind & Flags.retry != 0 ? .delayed : .parked
        isHTTPS = kind & Flags.https != 0
        hasHeaders = kind & Flags.headers != 0
        isMany = kind & Flags.many != 0
        isWhole = kind & Flags.whole != 0
        self.batch = batch
        self.enqueued = enqueued + Self.epoch
        self.host = String(decoding: host, as: UTF8.self)
        count = 1
        if isMany {
            guard let many = reader.number(1) else { return nil }
            count = many
        }
    }

    /// A job of the block.
    package enum Element {
        case job(JobEntry)
        /// Its URL is not valid UTF-8.
        case unreadable(URLID)
    }

    /// The next job; `nil` at the end, and where the block is cut off.
    package mutating func next() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        let bytes: ArraySlice<UInt8>
        if isMany {
            guard let length = reader.number(2), let part = reader.bytes(length) else { return nil }
            bytes = part
        } else {
            bytes = reader.all()
        }
        guard let id = URLID(bytes.prefix(16)) else { return nil }
        guard let rest = String(validating: bytes.dropFirst(16), as: UTF8.self) else { return .unreadable(id) }
        return .job(JobEntry(checked: id, host, isWhole ? rest : (isHTTPS ? "https://" : "http://") + host + rest))
    }

    /// The id of the next job.
    var firstID: URLID? {
        var copy = self
        switch copy.next() {
        case .job(let entry): return entry.id
        case .unreadable(let id): return id
        case nil: return nil
        }
    }

    /// All jobs that can be read.
    package var entries: [JobEntry] {
        var copy = self
        var entries: [JobEntry] = []
        while let next = copy.next() {
            if case .job(let entry) = next { entries.append(entry) }
        }
        return entries
    }
}

extension Block {
    /// A block with only these of the block's jobs, as bytes; `nil` where the block is cut off.
    /// - Parameter indices: In ascending order.
    package func bytes(ofJobs indices: some BidirectionalCollection<Int>) -> [UInt8]? {
        guard isMany else { return indices.elementsEqual([0]) ? bytes : nil }
        let start = 11 + Int(bytes[10])
        var reader = ByteReader(bytes[(start + 1)...])
        var jobs: [ArraySlice<UInt8>] = []
        var wanted = indices.makeIterator()
        var next = wanted.next()
        for index in 0..<count {
            guard let current = next else { break }
            guard let length = reader.number(2), let job = reader.bytes(length) else { return nil }
            if index == current {
                jobs.append(job)
                next = wanted.next()
            }
        }
        guard next == nil else { return nil }
        var part = Array(bytes[..<start])
        if jobs.count == 1 {
            part[0] &= ~Flags.many
            return part + jobs[0]
        }
        part.append(UInt8(jobs.count))
        for job in jobs {
            part.append(number: job.count, count: 2)
            part += job
        }
        return part
    }

    /// The block as if it were enqueued at another time.
    package func bytes(enqueued time: Int) -> [UInt8] {
        var changed = Array(bytes[..<5])
        changed.append(number: time - Self.epoch, count: 5)
        return changed + bytes[10...]
    }

    /// The properties that all jobs of a block share.
    private struct Kind: Hashable {
        let flags: UInt8
        let host: String
    }

    /// The jobs that a block gets. Their bytes have a length before each.
    private struct Packing {
        let kind: Kind
        var count = 0
        var jobs: [UInt8] = []
    }

    /// Packs a chunk by host. The host with the most jobs comes first, with all its blocks: it takes the longest, and must not wait for its
    /// other blocks behind those of small hosts. The time is zero until the script that accepts the chunk fills it in.
    package static func pack(_ entries: [JobEntry], batch: Int, hasHeaders: Bool) -> [[UInt8]] {
        var packings: [Packing] = []
        packings.reserveCapacity(entries.count / 4)
        // Room for a chunk whose hosts are all different: a table that grows moves all that it has.
        var places = [Kind: Int](minimumCapacity: entries.count)
        var last: Int?
        for entry in entries {
            var url = entry.url
            url.withUTF8 { url in
                let (flags, start) = Self.split(url, host: entry.host)
                let kind = Kind(flags: flags | (hasHeaders ? Flags.headers : 0), host: entry.host)
                var place = packings.count
                // Many lists name the URLs of a host one after the other.
                if let last, packings[last].kind == kind {
                    if packings[last].count < mostJobs { place = last } else { places[kind] = place }
                } else {
                    if let known = places[kind], packings[known].count < mostJobs { place = known } else { places[kind] = place }
                }
                if place == packings.count { packings.append(Packing(kind: kind)) }
                packings[place].count += 1
                packings[place].jobs.append(number: 16 + url.count - start, count: 2)
                entry.id.append(to: &packings[place].jobs)
                packings[place].jobs.append(contentsOf: UnsafeBufferPointer(rebasing: url[start...]))
                last = place
            }
        }
        return largestFirst(packings).map { packing in
            let (kind, isMany) = (packing.kind, packing.count > 1)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(12 + kind.host.utf8.count + packing.jobs.count)
            bytes.append(Flags.base | kind.flags | (isMany ? Flags.many : 0))
            bytes.append(number: batch, count: 4)
            bytes.append(number: 0, count: 5)
            bytes.append(UInt8(kind.host.utf8.count))
            bytes.append(contentsOf: kind.host.utf8)
            if isMany { bytes.append(UInt8(packing.count)) }
            // A job alone takes the rest of its block, and needs no length.
            bytes.append(contentsOf: packing.jobs[(isMany ? 0 : 2)...])
            return bytes
        }
    }

    /// Hosts with as many jobs stay in the order in which they come first.
    private static func largestFirst(_ packings: [Packing]) -> [Packing] {
        guard packings.contains(where: { $0.count > 1 }) else { return packings }
        var hosts: [String: (jobs: Int, first: Int)] = [:]
        for (place, packing) in packings.enumerated() {
            hosts[packing.kind.host, default: (0, place)].jobs += packing.count
        }
        let keys = packings.enumerated().map { place, packing in
            let host = hosts[packing.kind.host] ?? (0, place)
            return (-host.jobs, host.first, place)
        }
        return packings.indices.sorted { keys[$0] < keys[$1] }.map { packings[$0] }
    }

    /// Where the part of the URL begins that a block has to keep besides the host.
    private static func split(_ url: UnsafeBufferPointer<UInt8>, host: String) -> (flags: UInt8, start: Int) {
        let isHTTPS = url.count > 4 && url[4] == UInt8(ascii: "s")
        let scheme: StaticString = isHTTPS ? "https://" : "http://"
        let hostStart = scheme.utf8CodeUnitCount
        var host = host
        let end = host.withUTF8 { host -> Int? in
            let end = hostStart + host.count
            // With a password, or a port that is the scheme's own, the host is not all that stands there.
            guard url.count > end, url[end] == UInt8(ascii: "/"), let bytes = url.baseAddress, let name = host.baseAddress,
                memcmp(bytes, scheme.utf8Start, hostStart) == 0, memcmp(bytes + hostStart, name, host.count) == 0
            else { return nil }
            return end
        }
        return end.map { (isHTTPS ? Flags.https : 0, $0) } ?? (Flags.whole, 0)
    }
}

/// A URL to fetch, as a producer hands it over.
package struct JobEntry: Sendable, Equatable {
    package let id: URLID

    /// The host whose limits apply to the job.
    package let host: String
    package let url: String

    package static let longestURL = 8192
    package static let longestHost = 255

    /// - Throws: `StateError.invalid` for a URL or a host that the format cannot hold.
    package init(id: URLID, host: String, url: String) throws(StateError) {
        var host = host
        guard !url.isEmpty, url.utf8.count <= Self.longestURL else {
            throw .invalid("A URL has 1 to \(Self.longestURL) bytes; this one has \(url.utf8.count).")
        }
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else {
            throw .invalid("A host has 1 to \(Self.longestHost) bytes; this one has \(host.utf8.count).")
        }
        guard host.withUTF8({ $0.allSatisfy { $0 > 0x20 && $0 != 0x7f } }) else {
            throw .invalid("A host has no spaces or control characters.")
        }
        self.init(checked: id, host, url)
    }

    /// An entry that was checked when it was enqueued.
    init(checked id: URLID, _ host: String, _ url: String) {
        self.id = id
        self.host = host
        self.url = url
    }
}
