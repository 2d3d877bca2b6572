import GannetBase
import GannetQueue

extension FuzzTarget {
    /// The input is a byte that says what it is in Redis, and the bytes that lie there. For an answer of Redis it is a reply.
    static let state = FuzzTarget(name: "state", maximumLength: 2048) {
        StoredForm.seeds + StateAnswer.seeds
    } check: { (input) throws(BrokenInvariant) in
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        if let form = StoredForm(rawValue: kind) { try form.check(bytes) }
        if let answer = StateAnswer(rawValue: kind), let reply = RESP.first(bytes) { try answer.check(reply, size: bytes.count) }
    }
}

/// Things that lie in Redis as packed bytes or as text.
private enum StoredForm: UInt8, CaseIterable {
    case block, outcome, lock, headers, trace, worker, dead, place, rule, samples, intent, cursor

    private static let now = 1_800_000_000_000

    func check(_ bytes: [UInt8]) throws(BrokenInvariant) {
        switch self {
        case .block: try Self.check(block: bytes)
        case .outcome: try Self.check(outcome: bytes)
        case .lock:
            guard let lock = URLLock(bytes) else { return }
            // An audit compares a lock with the bytes in Redis.
            try require(lock.bytes == bytes, "the lock \(bytes) is written as \(lock.bytes)")
        case .headers:
            guard let headers = RequestHeaders(bytes) else { return }
            try require(RequestHeaders(headers.bytes) == headers, "the headers \(bytes) read again are others")
            try require(headers.bytes.count <= bytes.count, "the headers \(bytes) have grown")
        case .trace:
            guard let trace = try? TraceContext(String(decoding: bytes, as: UTF8.self)) else { return }
            let child = trace.child(UInt64(bytes.count))
            for trace in [trace, child] { try require((try? TraceContext(trace.text)) == trace, "\(trace.text) read again is another") }
        case .worker: try Self.check(worker: bytes)
        case .dead:
            guard let job = DeadJob(bytes) else { return }
            if let error = job.error { try error.check(size: bytes.count) }
        case .place:
            let place = JobList(timer: bytes)
            try require(bytes.isEmpty || place.member == bytes, "the place \(bytes) is written as \(place.member)")
            if let block = Block(StateSamples.block) {
                try require(place.due(block) ?? .max >= block.enqueued, "\(bytes) is due too early")
            }
        case .rule:
            let text = String(decoding: bytes, as: UTF8.self)
            guard let rule = OperatorRule("h", text, now: Self.now) else { return }
            try require(rule.pause.map { $0 > .zero } ?? true, "the rule \(text.debugDescription) has a pause that is over")
            // An operator cannot have set longer times.
            let times = [rule.interval, rule.pause].compactMap { $0 }
            guard times.allSatisfy({ .zero...OperatorRule.longestPause ~= $0 }) else { return }
            let again = OperatorRule("h", rule.bytes(now: Self.now), now: Self.now)
            try require(again == rule, "the rule \(text.debugDescription) read again is another")
        case .samples:
            // Some are as many as are kept, and more.
            let bytes = Array(Array(repeating: bytes, count: 1 + Int(bytes.first ?? 0) % 8).joined().prefix(200 * 30))
            let samples = QueueSample.read(bytes)
            try require(samples.count == bytes.count / 30, "\(bytes.count) bytes are \(samples.count) samples")
            let next = QueueSample(time: Self.now, done: 1, failed: 2, bytes: 3, open: 4)
            let more = next.appended(to: bytes)
            try require(more.count <= 180 * 30, "the samples grow to \(more.count) bytes")
            try require(QueueSample.read(more) == (samples + [next]).suffix(180), "a sample behind \(bytes) is read as another")
        case .intent:
            let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard parts.count == 2, let intent = QueueIntent(field: parts[0], value: parts[1]) else { return }
            let again = QueueIntent(field: intent.field, value: intent.value(at: Self.now))
            try require(again == intent, "the intent \(parts) read again is another")
        case .cursor:
            let text = String(decoding: bytes, as: UTF8.self)
            if let cursor = JobCursor(text) { try require(cursor.text == text, "the cursor \(text) is written as \(cursor.text)") }
        }
    }

    // MARK: Blocks

    private struct Seen: Equatable {
        let id: URLID
        let url: String?
    }

    private static func elements(of block: Block) -> [Seen] {
        var (rest, all) = (block, [Seen]())
        while let next = rest.next() {
            switch next {
            case .job(let entry): all.append(Seen(id: entry.id, url: entry.url))
            case .unreadable(let id): all.append(Seen(id: id, url: nil))
            }
        }
        return all
    }

    private static func check(block bytes: [UInt8]) throws(BrokenInvariant) {
        guard let block = Block(bytes) else { return }
        let (all, entries) = (elements(of: block), block.entries)
        try require(all.count <= block.count, "\(block.count) jobs are \(all.count)")
        try require(entries.map(\.url) == all.compactMap(\.url), "the readable jobs are others")
        let size = entries.reduce(0) { $0 + $1.url.utf8.count }
        try require(size <= bytes.count + entries.count * (block.host.utf8.count + 8), "\(bytes.count) bytes are URLs of \(size) bytes")
        guard let later = Block(block.bytes(enqueued: now)) else { throw BrokenInvariant(description: "\(bytes) at another time is none") }
        try require(later.enqueued == now && later.batch == block.batch, "\(bytes) at another time is another block")
        try require(elements(of: later) == all, "\(bytes) at another time has other jobs")
        // The end of a block may be missing.
        guard all.count == block.count, !all.isEmpty else { return }
        for indices in [Array(all.indices), all.indices.filter { $0.isMultiple(of: 2) }, [all.count - 1]] {
            guard let part = block.bytes(ofJobs: indices).flatMap({ Block($0) }) else {
                throw BrokenInvariant(description: "\(bytes) has no jobs \(indices)")
            }
            try require(elements(of: part) == indices.map { all[$0] }, "the jobs \(indices) of \(bytes) are others")
        }
        try check(packing: entries, like: block)
    }

    private static func check(packing entries: [JobEntry], like block: Block) throws(BrokenInvariant) {
        let valid = entries.compactMap { try? JobEntry(id: $0.id, host: $0.host, url: $0.url) }
        let packed = Block.pack(valid, batch: block.batch, hasHeaders: block.hasHeaders).compactMap { Block($0) }
        try require(packed.allSatisfy { 1...Block.mostJobs ~= $0.count && $0.batch == block.batch }, "\(block.bytes) is packed wrongly")
        let isBefore = { (one: JobEntry, other: JobEntry) in (one.url, one.id.short) < (other.url, other.id.short) }
        try require(packed.flatMap(\.entries).sorted(by: isBefore) == valid.sorted(by: isBefore), "\(block.bytes) is packed as others")
    }

    // MARK: Outcomes

    private static func check(outcome bytes: [UInt8]) throws(BrokenInvariant) {
        guard let outcome = URLOutcome(bytes) else { return }
        try require(outcome.began <= outcome.ended && outcome.ended <= outcome.freshUntil, "\(bytes) ended before it began")
        for now in [0, outcome.ended, 1 << 52] {
            try require(outcome.age(at: now) >= .zero, "an age below zero")
            if let failure = outcome.remembered(at: now) { try require(failure.remaining > .zero, "\(bytes) is remembered for no time") }
        }
        try require((outcome.failure != nil) == outcome.isNegative, "\(bytes) failed without a reason")
        try outcome.content.check(size: bytes.count)
    }

    // MARK: Workers

    private static func check(worker bytes: [UInt8]) throws(BrokenInvariant) {
        guard let record = WorkerRecord(bytes) else { return }
        try require(record.hosts.count <= WorkerRecord.mostHosts, "a worker names \(record.hosts.count) hosts")
        guard let again = WorkerRecord(record.bytes) else { throw BrokenInvariant(description: "\(bytes) cannot be read again") }
        let texts = [record.machine, record.version] + record.hosts.map(\.name)
        let isCut = texts.contains { $0.utf8.count > 255 } || record.partitions.count > Partition.most
        try require(isCut || again == record, "the worker \(bytes) read again is another")
        try require(WorkerRecord(again.bytes) == again, "the worker \(again.bytes) read again is another")
        for heartbeat in [Duration.zero, .milliseconds(now)] {
            let status = WorkerStatus(id: "w", heartbeat: heartbeat, record: record)
            _ = status.state
            try require(status.age.map { $0 >= .zero } ?? true, "a worker is younger than nothing")
        }
    }
}

extension StoredForm {
    /// Inputs to begin with, of each form.
    static var seeds: [[UInt8]] {
        StoredForm.allCases.flatMap { form in form.samples.map { [form.rawValue] + $0 } }
    }

    private var samples: [[UInt8]] {
        switch self {
        case .block: [StateSamples.block] + StateSamples.blocks
        case .outcome: [0, 1, 2].map { StateSamples.outcome(flags: $0) } + [StateSamples.longOutcome]
        case .lock: [StateSamples.lock(0x4c), StateSamples.lock(0x57)]
        case .headers:
            ((try? RequestHeaders([.init(name: "Accept", value: "image/*"), .init(name: "X", value: "é")])).map { [$0.bytes] } ?? []) + [[]]
        case .trace:
            ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-x"]
                .map { Array($0.utf8) }
        case .worker: [StateSamples.worker.bytes]
        case .dead:
            [Array(repeating: 7, count: 16) + [1, 2, 0, UInt8(StateSamples.block.count)] + StateSamples.block + StateSamples.content.bytes]
        case .place: ["hexample.com", "u0123456789abcdef", "d60000", "x"].map { Array($0.utf8) }
        case .rule: ["4 250 1900000000000", "4  ", "  1700000000000", " 0 "].map { Array($0.utf8) }
        case .samples: [Array(0..<60), [], Array(repeating: 7, count: 900)]
        case .intent: ["intent:clear\u{0}1 1", "intent:cancel:7\u{0}1 0"].map { Array($0.utf8) }
        case .cursor: [JobCursor().text, "1-2-3-4-5-6"].map { Array($0.utf8) }
        }
    }
}

extension OutcomeContent {
    /// An outcome of so many bytes is of a bounded size, and is read as it is written.
    func check(size: Int) throws(BrokenInvariant) {
        // A byte that is no text becomes a character of three.
        let most = 8 * size + 256
        let count = url.utf8.count + (facts?.count ?? 0) + fields.values.reduce(0) { $0 + $1.utf8.count }
        try require(count <= most, "an outcome of \(size) bytes takes \(count)")
        guard let again = OutcomeContent(bytes[...]) else { throw BrokenInvariant(description: "\(self) cannot be read again") }
        let isCut =
            fields.values.contains { $0.utf8.count > OutcomeContent.longestField }
            || facts?.count ?? 0 > OutcomeContent.longestFacts
        try require(isCut || again == self, "\(self) read again is \(again)")
        try require(OutcomeContent(again.bytes[...]) == again, "\(again) read again is another")
    }
}
