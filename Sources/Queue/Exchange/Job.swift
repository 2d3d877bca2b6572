internal import GannetBase
internal import GannetRedisClient

/// A URL to fetch, or a known outcome to deliver. This process holds it.
///
/// A class, because many steps pass it on: copies of its fields were most of the memory of a job that is under way.
package final class Job: Sendable {
    /// Proof of the lock: an outcome is accepted only with this token.
    package let token: LockToken
    package let entry: JobEntry
    package let queue: String

    /// The index of the partition that the job belongs to.
    package let partition: Int

    /// The batch's number.
    package let batch: Int

    /// The record of the batch.
    private let terms: LeasedBatch

    /// The batch's requests have headers of their own.
    private let hasHeaders: Bool

    /// When the job was enqueued, in queue time.
    package let enqueued: Int

    /// When the job was handed out, in queue time.
    package let handedOut: Int

    /// How many workers died while they held the URL.
    package let crashes: Int

    /// How many failed attempts were charged to the URL.
    package let failures: Int

    /// How long the URL's host has been putting it off, in queue time; zero for a URL that was not put off.
    package let throttled: Duration

    /// The outcome that is known already. A job that has one holds no lock and no place at its host: its body only has to be delivered.
    package let outcome: URLOutcome?

    /// An earlier outcome that is too old for this job. The fetch may ask the origin whether that outcome still holds.
    package let stale: URLOutcome?

    /// The host is given up, because it does not answer. The job holds no place there and must not be fetched.
    package let isHopeless: Bool

    /// The failure of the last request to a host that is given up. Another job's URL may have been requested.
    package let hostFailure: OutcomeContent?

    package init(
        token: LockToken, entry: JobEntry, queue: String, partition: Int, batch: Int, terms: LeasedBatch,
        hasHeaders: Bool = false, enqueued: Int = 0, handedOut: Int = 0, crashes: Int = 0, failures: Int = 0, throttled: Duration = .zero,
        outcome: URLOutcome? = nil, stale: URLOutcome? = nil, isHopeless: Bool = false, hostFailure: OutcomeContent? = nil
    ) {
        self.token = token
        self.entry = entry
        self.queue = queue
        self.partition = partition
        self.batch = batch
        self.terms = terms
        self.hasHeaders = hasHeaders
        self.enqueued = enqueued
        self.handedOut = handedOut
        self.crashes = crashes
        self.failures = failures
        self.throttled = throttled
        self.outcome = outcome
        self.stale = stale
        self.isHopeless = isHopeless
        self.hostFailure = hostFailure
    }
}

extension Job {
    package var url: String { entry.url }
    package var id: URLID { entry.id }

    /// The host whose limits apply to the job.
    package var host: String { entry.host }

    /// The name that the producer gave the batch; `nil` where the batch's record is gone.
    package var batchName: String? { terms.name }

    /// The trace that the batch belongs to.
    package var trace: TraceContext? { terms.trace }

    /// Whether the job obeys the site that it fetches from.
    package var manners: Manners { terms.manners }

    /// The part of its fetch that stays.
    package var keeping: Keeping { terms.keeping }
    package var keepsWire: Bool { keeping == .wire }

    /// The headers of the job's request. `nil` where the job was enqueued with headers that are gone. Such a job must not be fetched:
    /// without its headers the host may give another answer.
    package var headers: RequestHeaders? { hasHeaders ? terms.headers : RequestHeaders.none }

    /// Three workers died with the URL. Nobody fetches it again.
    package var isPoison: Bool { crashes >= Self.mostCrashes }

    private static let mostCrashes = 3
    private static let lockKind = UInt8(ascii: "L")
    private static let deliveryKind = UInt8(ascii: "d")
    private static let noPlace = 8

    /// Reads a job, as `Scripts/exchange.lua` hands it out: a lock with an answer that is too old, or a delivery with its outcome.
    /// - Parameter unreadable: Gets the settlement that gives the job up, where its URL is not valid UTF-8. The script cannot tell, and no worker
    ///   can fetch it. Such a job is `nil`.
    static func read(
        _ bytes: [UInt8], outcome: [UInt8], partition: Int, batches: [Int: LeasedBatch], now: Int, unreadable: inout [Settlement]
    ) throws(RedisError) -> Job? {
        var reader = ByteReader(bytes)
        let kind = reader.byte()
        guard kind == lockKind || kind == deliveryKind, let token = reader.bytes(LockToken.count).flatMap({ LockToken($0) }) else {
            throw .form(of: "exchange")
        }
        var (crashes, failures, flags, throttled) = (0, 0, 0, 0)
        var extras = reader
        if kind == lockKind {
            guard reader.bytes(12) != nil, let charged = reader.number(1), let failed = reader.number(1), let marks = reader.number(1),
                let since = reader.number(6), let length = reader.number(2), let part = reader.bytes(length)
            else { throw .form(of: "exchange") }
            (crashes, failures, flags, throttled) = (charged, failed, marks, since)
            extras = ByteReader(part)
        }
        guard let length = extras.number(1), let queue = extras.bytes(length) else { throw .form(of: "exchange") }
        if kind == deliveryKind { reader = extras }
        let isHopeless = flags & noPlace != 0
        let failure = isHopeless ? extras.number(2).flatMap { extras.bytes($0) } : nil
        guard var block = Block(reader.all()), let element = block.next() else { throw .form(of: "exchange") }
        switch element {
        case .unreadable(let id):
            unreadable.append(.unreadable(token, id, isDelivery: kind == deliveryKind))
            return nil
        case .job(let entry):
            let given = outcome.isEmpty ? nil : URLOutcome(outcome)
            return Job(
                token: token, entry: entry, queue: String(decoding: queue, as: UTF8.self), partition: partition, batch: block.batch,
                terms: batches[block.batch] ?? .gone, hasHeaders: block.hasHeaders, enqueued: block.enqueued, handedOut: now,
                crashes: crashes, failures: failures, throttled: throttled == 0 ? .zero : .milliseconds(max(0, now - throttled)),
                outcome: kind == deliveryKind ? given : nil, stale: kind == lockKind ? given : nil, isHopeless: isHopeless,
                hostFailure: failure.flatMap { OutcomeContent($0) })
        }
    }
}

/// The part of a batch's record that an exchange answers together with the batch's jobs.
package struct LeasedBatch: Sendable, Equatable {
    package var name: String?
    /// `nil` where the batch has no headers, and where its headers are gone or cannot be read.
    package var headers: RequestHeaders?
    package var trace: TraceContext?
    package var manners = Manners.ignoring
    package var keeping = Keeping.bodies

    /// The record is gone: its jobs ask their sites for too little rather than too much.
    static let gone = LeasedBatch(manners: .obeying)

    private static let fieldCount = 6

    /// Reads the batches of an exchange's answer, by their numbers.
    static func byNumber(_ fields: [RedisReply]) throws(RedisError) -> [Int: LeasedBatch] {
        guard fields.count.isMultiple(of: fieldCount) else { throw .form(of: "exchange") }
        var batches: [Int: LeasedBatch] = [:]
        for index in stride(from: 0, to: fields.count, by: fieldCount) {
            var batch = LeasedBatch()
            batch.name = try fields[index + 1].asOptionalString()
            batch.headers = try fields[index + 2].asOptionalBytes().flatMap { RequestHeaders($0) }
            batch.trace = try fields[index + 3].asOptionalString().flatMap { try? TraceContext($0) }
            batch.manners = Manners(text: try fields[index + 4].asOptionalString())
            batch.keeping = Keeping(text: try fields[index + 5].asOptionalString())
            batches[try fields[index].asInteger()] = batch
        }
        return batches
    }
}
