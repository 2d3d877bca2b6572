import RedisClient

@testable import ClusterState

extension StateLook {
    /// Looks at a namespace. `now` tells which dead jobs may be new.
    static func take(_ redis: RedisConnection, namespace: String, now: Int) async throws -> StateLook {
        let reply = try await redis.run(script, keys: [], [.string("{\(namespace)}"), .integer(now)])
        return StateLook(try reply.asBytes())
    }

    init(_ bytes: [UInt8]) {
        self.init()
        var reader = LookReader(bytes: bytes)
        while true {
            let section = reader.number()
            if section == 0 { return }
            read(section, &reader)
        }
    }

    private mutating func read(_ section: Int, _ reader: inout LookReader) {
        switch section {
        case 1:
            clock.seen = reader.number()
            clock.shift = reader.number()
            clock.lived = reader.number()
            clock.shortest = reader.number()
            clock.tokens = reader.number()
            clock.chains = reader.number()
        case 2: for _ in 0..<reader.number() { readFlight(&reader) }
        case 22: moves = reader.number()
        case 3: leaseEnds = reader.number()
        case 4:
            let url = reader.number()
            locks[url] = reader.token()
        case 5: readPage(&reader)
        case 6:
            let url = reader.number()
            readLine(.parked(url: url), &reader)
        case 7:
            let url = reader.number()
            waiters[url] = Set((0..<reader.number()).map { _ in reader.number() })
        case 8:
            for _ in 0..<reader.number() {
                freed.append(
                    FreedLook(
                        chain: reader.number(), verdict: .init(rawValue: reader.number())!, began: reader.number(), ended: reader.number(),
                        url: reader.number()))
            }
        case 9:
            let number = reader.number()
            readLine(.chain(number), &reader)
        case 10: for _ in 0..<reader.number() { readHost(&reader) }
        default: readOfQueue(section, &reader)
        }
    }

    private mutating func readOfQueue(_ section: Int, _ reader: inout LookReader) {
        if section == 99 {
            strange.append("the key \(reader.text())")
            return
        }
        let queue = reader.number()
        switch section {
        case 11:
            let priority = reader.number()
            readLine(.ready(queue: queue, priority: priority), &reader)
        case 12:
            let priority = reader.number()
            let host = reader.number()
            readLine(.held(queue: queue, priority: priority, host: host), &reader)
        case 13:
            let priority = reader.number()
            for _ in 0..<reader.number() {
                let host = reader.number()
                due[.held(queue: queue, priority: priority, host: host)] = reader.number()
            }
        case 14:
            for _ in 0..<reader.number() {
                let due = reader.number()
                let token = reader.token()
                put(reader.job(), .later(due: due, token))
            }
        case 15:
            deadCounts[queue] = reader.number()
            for _ in 0..<reader.number() {
                let job = reader.job()
                dead[job.serial] = job
            }
        case 17: counts[queue] = (0..<16).map { _ in reader.number() }
        case 18:
            let key = BatchKey(queue: queue, number: reader.number())
            batches[key] = (0..<9).map { _ in reader.number() }
        case 19:
            let key = BatchKey(queue: queue, number: reader.number())
            finished[key] = reader.number()
        case 20: for _ in 0..<reader.number() { ended.insert(BatchKey(queue: queue, number: reader.number())) }
        case 21: idle[queue] = Set((0..<reader.number()).map { _ in reader.number() })
        default: preconditionFailure("The look says something nobody reads: \(section).")
        }
    }

    private mutating func readFlight(_ reader: inout LookReader) {
        let token = reader.token()
        let kind = FlightLook.Kind(rawValue: UInt8(reader.number()))!
        let began = reader.number()
        let ends = reader.number()
        if kind == .job || kind == .delivery {
            let job = reader.job()
            put(job, .leased(token))
            let host = reader.number()
            flights[token] = FlightLook(kind: kind, began: began, ends: ends, url: job.url, job: job, movedTo: host < 0 ? nil : host)
        } else {
            flights[token] = FlightLook(kind: kind, began: began, ends: ends, url: reader.number())
        }
    }

    private mutating func readPage(_ reader: inout LookReader) {
        let url = reader.number()
        let flags = reader.number()
        let began = reader.number()
        let ended = reader.number()
        let fresh = reader.number()
        let digest = reader.number()
        pages[url] = PageLook(
            isNegative: flags & 1 == 1, isStored: flags & 2 == 0, began: began, ended: ended, freshUntil: fresh, digest: digest,
            token: reader.token())
    }

    private mutating func readHost(_ reader: inout LookReader) {
        let number = reader.number()
        var host = HostLook()
        host.running = reader.number()
        host.next = reader.number()
        host.cool = reader.number()
        host.failures = reader.number()
        host.level = reader.number()
        host.probing = reader.number()
        host.down = reader.number()
        for _ in 0..<reader.number() { host.marks.insert(reader.number()) }
        hosts[number] = host
    }

    private mutating func readLine(_ line: Line, _ reader: inout LookReader) {
        lines[line] = (0..<reader.number()).map { _ in
            let job = reader.job()
            put(job, .line(line))
            return job.serial
        }
    }

    private mutating func put(_ job: JobRecord, _ place: Place) {
        if let other = jobs[job.serial] { strange.append("job \(job.serial) at \(place) and at \(other.place)") }
        jobs[job.serial] = JobLook(record: job, place: place)
    }
}

/// Reads the bytes that the script of a look answers.
struct LookReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func number() -> Int {
        defer { at += 8 }
        return bytes.withUnsafeBytes { Int(Int64(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: Int64.self))) }
    }

    mutating func token() -> Token {
        defer { at += 16 }
        return bytes.withUnsafeBytes {
            Token(
                number: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
                nonce: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)))
        }
    }

    mutating func job() -> JobRecord {
        JobRecord(
            serial: number(), queue: number(), batch: number(), url: number(), enqueued: number(), crashes: number(), failures: number(),
            throttled: number(), hasHeaders: number())
    }

    mutating func text() -> String {
        let count = number()
        defer { at += count }
        return String(decoding: bytes[at..<at + count], as: UTF8.self)
    }
}
