import GannetBase

/// The formats of what a partition has, read without any code of the product.
extension StateLook {
    static func lock(_ bytes: Bytes) -> Lock? {
        var reader = ByteReader(bytes)
        guard let kind = reader.byte(), let token = reader.bytes(16), let began = reader.number(6), let deadline = reader.number(6),
            let crashes = reader.number(1), let failures = reader.number(1), let flags = reader.number(1), reader.number(6) != nil,
            let length = reader.number(2), let extras = reader.bytes(length)
        else { return nil }
        var inner = ByteReader(extras)
        guard let size = inner.number(1), let queue = inner.bytes(size), let failure = inner.number(2), inner.bytes(failure) != nil else {
            return nil
        }
        var followers: [(String, Int)] = []
        while let kind = inner.byte() {
            guard let size = inner.number(1), let name = inner.bytes(size) else { return nil }
            if kind == UInt8(ascii: "q") {
                followers.append((String(decoding: name.dropFirst(), as: UTF8.self), Int(name.first ?? 0) - 48))
            }
        }
        let rest = Array(reader.all())
        let character = Character(UnicodeScalar(kind))
        return Lock(
            kind: character, token: Array(token), began: began, deadline: deadline, crashes: crashes, failures: failures, flags: flags,
            queue: String(decoding: queue, as: UTF8.self), followers: followers, job: character == "L" ? jobs(rest) : nil)
    }

    static func host(_ bytes: Bytes) -> Host? {
        var reader = ByteReader(bytes)
        guard let running = reader.number(2), let earned = reader.number(1), let next = reader.number(6), let cool = reader.number(6),
            let failures = reader.number(1), reader.number(1) != nil,
            let probing = reader.number(1), let down = reader.number(6), let offered = reader.number(6),
            let reason = reader.number(2), reader.bytes(reason) != nil
        else { return nil }
        var waiting: [String] = []
        while let size = reader.number(1) {
            guard let name = reader.bytes(size) else { return nil }
            waiting.append(String(decoding: name, as: UTF8.self))
        }
        return Host(
            running: running, earned: earned, next: next, cool: cool, failures: failures, probing: probing, down: down,
            offered: offered, waiting: waiting)
    }

    static func jobs(_ bytes: some Collection<UInt8>) -> Jobs? {
        var reader = ByteReader(Array(bytes))
        guard let kind = reader.number(1), (64..<128).contains(kind), let batch = reader.number(4), let enqueued = reader.number(5),
            let length = reader.number(1), let host = reader.bytes(length)
        else { return nil }
        var jobs: [(Bytes, String, Int?)] = []
        func note(_ id: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) {
            jobs.append((Array(id), String(decoding: rest, as: UTF8.self), serial(rest)))
        }
        if kind & 4 == 0 {
            guard let id = reader.bytes(16) else { return nil }
            note(id, reader.all())
        } else {
            guard let count = reader.number(1) else { return nil }
            for _ in 0..<count {
                guard let size = reader.number(2), let part = reader.bytes(size), part.count >= 16 else { return nil }
                note(part.prefix(16), part.dropFirst(16))
            }
            guard reader.all().isEmpty else { return nil }
        }
        return Jobs(
            kind: kind, batch: batch, enqueued: enqueued + 1_577_836_800_000, host: String(decoding: host, as: UTF8.self), jobs: jobs)
    }

    /// A job that its holder only delivers: the value of its field.
    static func delivery(_ value: Bytes) -> (queue: String, jobs: Jobs)? {
        var reader = ByteReader(value)
        guard let size = reader.number(1), let queue = reader.bytes(size), let block = jobs(reader.all()) else { return nil }
        return (String(decoding: queue, as: UTF8.self), block)
    }
}
