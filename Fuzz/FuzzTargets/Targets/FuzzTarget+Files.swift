import GannetBase
import GannetFetch
import GannetHTTP
import GannetQueue
import GannetTestKit
import Results

extension FuzzTarget {
    /// The input is a byte that says which file it is, and the file: a line of a folder's journal, a whole journal, favourites, or kept
    /// exchanges.
    static let files = FuzzTarget(name: "files", maximumLength: 4096) {
        let records = Self.records.flatMap(\.line)
        return [
            [0] + records, [1] + Journal.heading + records, [0x81] + Journal.heading + records + records + Array("half a li".utf8),
            [1] + records,
            [1] + Journal.heading.prefix(9),
        ]
            + [
                #"{"favourites":[{"added":1700000000123,"id":"a"},{"added":-5,"id":"https://h/é"}],"version":1}"#, #"{"version":2}"#,
                #"{"version":1,"favourites":[{"added":9007199254740992,"id":"\ud83d\ude00"}]}"#,
            ].map { [2] + Array($0.utf8) } + [[3] + exchanges]
    } check: { (input) throws(BrokenInvariant) in
        guard let kind = input.first else { return }
        let file = Array(input.dropFirst())
        switch (kind & 0x7f) % 4 {
        case 0:
            for line in file.split(separator: UInt8(ascii: "\n")) { try check(line: Array(line)) }
        case 1: try check(journal: file, compacts: kind & 0x80 != 0)
        case 2: try check(favourites: file)
        default: try check(exchanges: file)
        }
    }

    private static var records: [JobRecord] {
        (0..<3).compactMap { number in
            guard let id = URLID(Array(repeating: UInt8(number % 2), count: 16)) else { return nil }
            var record = JobRecord(id)
            (record.status, record.bytes, record.milliseconds, record.isFailed) = (200 + number, 12, 5, number == 1)
            record.file = number == 1 ? "" : "0a1/0a1-x.jpg"
            return record
        }
    }

    /// A redirect whose body is kept, and an answer whose body is stored elsewhere.
    private static var exchanges: [UInt8] {
        var bytes: [UInt8] = [1] + (1...32) + [2]
        for (url, body) in [("http://h/a", Array("gone".utf8)), ("http://h/b", nil)] {
            bytes.append(counted: url)
            bytes.append(signed: 1_700_000_000_123)
            bytes.append(0)
            for text in ["http/1.1", "192.0.2.1", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 301 Moved\r\nLocation: /b\r\n\r\n"] {
                bytes.append(counted: text)
            }
            bytes.append(body == nil ? 0 : 1)
            if let body { bytes += [UInt8(body.count)] + body }
        }
        return bytes
    }

    // MARK: Records

    private static func read(_ line: some Collection<UInt8>) -> JobRecord? { Array(line).withUnsafeBytes { JobRecord(line: $0) } }

    private static func check(line: [UInt8]) throws(BrokenInvariant) {
        let key = line.withUnsafeBytes { JobRecord.key(of: $0) }
        guard let record = read(line) else { return }
        let text = String(decoding: line, as: UTF8.self).debugDescription
        try require(key?.id == record.id && key?.isFailed == record.isFailed, "the record \(text) is indexed as another")
        try require(record.bytes >= 0 && record.milliseconds >= 0 && record.status >= 0, "the record \(text) has less than nothing")
        // Sums of a hundred million records must not be too large.
        try require(record.bytes < 1 << 53 && record.milliseconds < 1 << 53, "the record \(text) has too large numbers")
        try require(record.file.isEmpty || BodyFolder.isWithin(record.file), "the record \(text) leads out of its folder")
        let again = record.line
        try require(
            again.last == UInt8(ascii: "\n") && again.count { $0 == UInt8(ascii: "\n") } == 1, "the record \(text) is several lines")
        try require(read(again.dropLast()) == record, "the record \(text) read again is another")
        try require(read(again.dropLast() + line) == nil, "the record \(text) and another that ran into it are one")
    }

    // MARK: Journals

    /// A folder of this process.
    private static let folder = try? TemporaryFolder()

    /// - Parameter compacts: Whether the journal is compacted too, which waits for a disk.
    private static func check(journal bytes: [UInt8], compacts: Bool) throws(BrokenInvariant) {
        guard let folder, (try? folder.write(bytes, to: Journal.name)) != nil else {
            throw BrokenInvariant(description: "a journal cannot be written")
        }
        // Files of others are refused.
        guard let journal = try? Journal(in: folder.path) else { return }
        let isOwn = bytes.starts(with: Journal.heading)
        let lines =
            isOwn
            ? bytes[Journal.heading.count...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() : []
        var latest: [URLID: ArraySlice<UInt8>] = [:]
        for line in lines { if let (id, _) = Array(line).withUnsafeBytes({ JobRecord.key(of: $0) }) { latest[id] = line } }
        try check(journal, has: latest)
        guard let new = records.last, (try? journal.append(new)) == true else {
            throw BrokenInvariant(description: "a record of this run is not the first")
        }
        latest[new.id] = new.line.dropLast()
        try check(journal, has: latest)
        // As the next run finds it, and as it is when that run has compacted it.
        for least in compacts ? [Journal.leastCompacted, 0] : [Journal.leastCompacted] {
            guard let next = try? Journal(in: folder.path, compactingFrom: least) else {
                throw BrokenInvariant(description: "the journal cannot be opened again")
            }
            try check(next, has: latest)
        }
    }

    private static func check(_ journal: Journal, has latest: [URLID: ArraySlice<UInt8>]) throws(BrokenInvariant) {
        for (id, line) in latest {
            guard let entry = journal[id], let found = try? journal.record(of: id) else {
                try require(read(line) == nil && journal[id] != nil, "the record of \(id.short) is lost")
                continue
            }
            try require(found == read(line), "the latest record of \(id.short) is another")
            try require(found.isFailed == entry.marks.contains(.failed), "the record of \(id.short) is marked as another")
        }
    }

    // MARK: Exchanges

    private static func check(exchanges bytes: [UInt8]) throws(BrokenInvariant) {
        guard let kept = WireRecord.unpacked(bytes) else { return }
        let again = try? WireRecord.packed(kept, atMost: bytes.count)
        try require(again == bytes, "\(kept.exchanges.count) exchanges that were read are written in other bytes")
    }

    // MARK: Favourites

    private static func check(favourites bytes: [UInt8]) throws(BrokenInvariant) {
        guard let favourites = FavouritesFormat.read(bytes) else { return }
        try require(favourites.count <= bytes.count, "\(bytes.count) bytes are \(favourites.count) favourites")
        try require(Set(favourites.map(\.id)).count == favourites.count, "a favourite comes twice")
        let again = FavouritesFormat.read(FavouritesFormat.bytes(favourites))
        try require(again == favourites, "\(favourites) read again is \(again ?? [])")
    }
}
