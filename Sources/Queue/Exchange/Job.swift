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

    /// The name that the producer gave the batch; `nil` where the batch's record is gone.
    package let batchName: String?

    /// The trace that the batch belongs to.
    package let trace: TraceContext?

    /// Whether the job obeys the site that it fetches from.
    package let manners: Manners

    /// The part of its fetch that stays.
    package let keeping: Keeping

    /// When the job was enqueued, in queue time.
    package let enqueued: Int

    /// How many workers died while they held the URL.
    package let crashes: Int

    /// How many failed attempts were charged to the URL.
    package let failures: Int

    /// How long the URL's host has been putting it off, in queue time; zero for a URL that was not put off.
    package let throttled: Duration

    /// The headers of the job's request. `nil` where the job was enqueued with headers that are gone. Such a job must not be fetched:
    /// without its headers the host may give another answer.
    package let headers: RequestHeaders?

    /// The outcome that is known already. A job that has one holds no lock and no place at its host: its body only has to be delivered.
    package let outcome: URLOutcome?

    /// An earlier outcome that is too old for this job. The fetch may ask the origin whether that outcome still holds.
    package let stale: URLOutcome?

    /// The host is given up, because it does not answer. The job holds no place there and must not be fetched.
    package let isHopeless: Bool

    /// The failure of the last request to a host that is given up. Another job's URL may have been requested.
    package let hostFailure: OutcomeContent?

    package init(
        token: LockToken, entry: JobEntry, queue: String, partition: Int, batch: Int, batchName: String?, trace: TraceContext?,
        manners: Manners = .ignoring, keeping: Keeping = .bodies,
        enqueued: Int, crashes: Int, failures: Int, throttled: Duration, headers: RequestHeaders?, outcome: URLOutcome?,
        stale: URLOutcome?, isHopeless: Bool, hostFailure: OutcomeContent? = nil
    ) {
        self.token = token
        self.entry = entry
        self.queue = queue
        self.partition = partition
        self.batch = batch
        self.batchName = batchName
        self.trace = trace
        self.manners = manners
        self.keeping = keeping
        self.enqueued = enqueued
        self.crashes = crashes
        self.failures = failures
        self.throttled = throttled
        self.headers = headers
        self.outcome = outcome
        self.stale = stale
        self.isHopeless = isHopeless
        self.hostFailure = hostFailure
    }
}

extension Job {
    package var url: String { entry.url }
    package var keepsWire: Bool { keeping == .exchanges }
    package var id: URLID { entry.id }

    /// The host whose limits apply to the job.
    package var host: String { entry.host }

    /// Three workers died with the URL. Nobody fetches it again.
    package var isPoison: Bool { crashes >= Self.mostCrashes }

    private static let mostCrashes = 3
    private static let lockKind = UInt8(ascii: "L")
    private static let deliveryKind = UInt8(ascii: "d")
    private static let noPlace = 8

    /// A job as an exchange hands it out.
    enum Handed {
        case job(Job)
        /// The URL is not valid UTF-8. The script cannot tell, and no worker can fetch it.
        case unreadable(LockToken, URLID, isDelivery: Bool)
    }

    /// Reads a job, as `Scripts/exchange.lua` hands it out: a lock with an answer that is too old, or a delivery with its outcome.
    static func read(
        _ bytes: [UInt8], outcome: [UInt8], partition: Int, batches: [Int: LeasedBatch], now: Int
    ) -> Handed? {
        var reader = ByteReader(bytes)
        let kind = reader.byte()
        guard kind == lockKind || kind == deliveryKind, let token = reader.bytes(LockToken.count).flatMap({ LockToken($0) }) else {
            return nil
        }
        var (crashes, failures, flags, throttled) = (0, 0, 0, 0)
        var extras = reader
        if kind == lockKind {
            guard reader.bytes(12) != nil, let charged = reader.number(1), let failed = reader.number(1), let marks = reader.number(1),
                let since = reader.number(6), let length = reader.number(2), let part = reader.bytes(length)
            else { return nil }
            (crashes, failures, flags, throttled) = (charged, failed, marks, since)
            extras = ByteReader(part)
        }
        guard let length = extras.number(1), let queue = extras.bytes(length) else { return nil }
        if kind == deliveryKind { reader = extras }
        let isHopeless = flags & noPlace != 0
        let failure = isHopeless ? extras.number(2).flatMap { extras.bytes($0) } : nil
        guard var block = Block(reader.all()), let element = block.next() else { return nil }
        switch element {
        case .unreadable(let id): return .unreadable(token, id, isDelivery: kind == deliveryKind)
        case .job(let entry):
            let known = batches[block.batch]
            let given = outcome.isEmpty ? nil : URLOutcome(outcome)
            return .job(
                Job(
                    token: token, entry: entry, queue: String(decoding: queue, as: UTF8.self), partition: partition, batch: block.batch,
                    batchName: known?.name, trace: known?.trace, manners: known?.manners ?? .obeying,
                    keeping: known?.keeping ?? .bodies, enqueued: block.enqueued,
                    crashes: crashes, failures: failures,
                    throttled: throttled == 0 ? .zero : .milliseconds(max(0, now - throttled)),
                    headers: block.hasHeaders ? known?.headers : RequestHeaders.none,
                    outcome: kind == deliveryKind ? given : nil, stale: kind == lockKind ? given : nil, isHopeless: isHopeless,
                    hostFailure: failure.flatMap { OutcomeContent($0) }))
        }
    }
}

/// The part of a batch's record that an exchange answers together with the batch's jobs.
struct LeasedBatch: Sendable, Equatable {
    /// The name that the producer gave the batch.
    let name: String?

    /// `nil` where the batch has no headers, and where its headers are gone or cannot be read.
    let headers: RequestHeaders?
    let trace: TraceContext?
    let manners: Manners
    let keeping: Keeping

    private static let fieldCount = 6

    /// Reads the batches of an exchange's answer, by their numbers.
    static func byNumber(_ fields: [RedisReply]) throws(RedisError) -> [Int: LeasedBatch] {
        guard fields.count.isMultiple(of: fieldCount) else { throw .form(of: "exchange") }
        var batches: [Int: LeasedBatch] = [:]
        for index in stride(from: 0, to: fields.count, by: fieldCount) {
            batches[try fields[index].asInteger()] = LeasedBatch(
                name: try fields[index + 1].asOptionalString(),
                headers: try fields[index + 2].asOptionalBytes().flatMap { RequestHeaders($0) },
                trace: try fields[index + 3].asOptionalString().flatMap { try? TraceContext($0) },
                manners: Manners(text: try fields[index + 4].asOptionalString()),
                keeping: Keeping(text: try fields[index + 5].asOptionalString()))
        }
        return batches
    }
}
