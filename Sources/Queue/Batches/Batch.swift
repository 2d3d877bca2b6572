package import GannetRedisClient

/// How much of a batch's input has been accepted.
package struct BatchProgress: Sendable, Equatable {
    package enum State: String, Sendable {
        case open, closed, cancelled
    }

    package let name: String
    package let number: Int

    /// The name of the input, as given when the batch was begun.
    package let source: String

    /// The end of the accepted input, as the home partition knows it. Its part of a chunk is accepted last.
    package var offset: Int { offsets[0] }

    /// The position behind which a producer reads its input again. It is before ``offset`` where a partition had no rows in the last chunks, or
    /// where a failover has set one back. Rows that their partition has are not accepted twice.
    package var resumesBehind: Int { offsets.min() ?? 0 }

    /// The position up to which each partition has its rows. A partition without rows in a chunk stays where it is.
    package internal(set) var offsets: [Int]
    var totals: [Int]
    package internal(set) var state: State

    /// The jobs that have been accepted.
    package var total: Int { totals.reduce(0, +) }

    /// The headers of the batch's requests; `nil` where they cannot be read.
    package let headers: RequestHeaders?
}

/// A batch, and how many of its jobs have ended.
package struct Batch: Sendable, Equatable {
    package enum State: String, Sendable {
        /// The input is still being read, or its producer was stopped on the way.
        case open
        /// All of the input is accepted, and some jobs have not ended.
        case running
        case complete
        /// The batch was cancelled, and jobs that workers held then have not ended.
        case cancelling
        case cancelled
    }

    package let name: String
    package let number: Int
    package let options: BatchOptions

    /// How long ago the batch was begun; `nil` where that cannot be read.
    package let age: Duration?

    package let input: BatchProgress.State
    package private(set) var total = 0
    package private(set) var done = 0
    package private(set) var failed = 0
    /// Failed jobs that their sites did not permit.
    package private(set) var disallowed = 0
    package private(set) var cancelled = 0
    package private(set) var active = 0
    package private(set) var parked = 0
    package private(set) var delayed = 0

    /// How many partitions know the batch no more, whose input had ended. Their server lost data, or they had too many batches to keep.
    package private(set) var lostParts = 0
}

extension Batch {
    /// Adds another partition's part of the batch.
    mutating func add(_ other: Batch) {
        for (_, count) in Self.counts { self[keyPath: count] += other[keyPath: count] }
    }

    /// The batches that the first partition knows, with the parts that the others have of them.
    /// - Parameter parts: Of each partition the parts of the same batches; `nil` for a batch that it does not know.
    static func sums(of parts: [[Batch?]]) -> [Batch] {
        guard var sums = parts.first else { return [] }
        for others in parts.dropFirst() {
            for (index, other) in others.enumerated() {
                if let other {
                    sums[index]?.add(other)
                } else if let first = sums[index], first.input != .open {
                    sums[index]?.lostParts += 1
                }
            }
        }
        return sums.compactMap(\.self)
    }

    package var ended: Int { done + failed + cancelled }

    package var ready: Int { max(0, total - ended - active - parked - delayed) }

    /// No more jobs can be added, and all accepted jobs have ended. After a server has lost data, more may have ended than are counted.
    package var isComplete: Bool { input != .open && total <= ended }

    package var state: State {
        switch input {
        case .open: .open
        case .closed: isComplete ? .complete : .running
        case .cancelled: isComplete ? .cancelled : .cancelling
        }
    }

    /// The part of the accepted jobs that has ended, from 0 to 1; `nil` where none was accepted.
    package var progress: Double? { total > 0 ? min(1, Double(ended) / Double(total)) : nil }

    /// Its counters, with their names in Redis.
    private static let counts: [(name: String, path: any WritableKeyPath<Batch, Int> & Sendable)] = [
        ("total", \.total), ("done", \.done), ("failed", \.failed), ("cancelled", \.cancelled), ("active", \.active), ("parked", \.parked),
        ("delayed", \.delayed), ("disallowed", \.disallowed),
    ]

    private static let facts = ["id", "priority", "refresh", "maxAge", "began", "headers", "trace", "manners", "keeps", "state"]
    static let fields = (facts + counts.map(\.name)).map { RedisArgument.string($0) }

    /// `nil` for a batch that no longer exists.
    package init?(number: Int, _ reply: RedisReply, now: Int) throws(RedisError) {
        let values = try reply.fields(Self.fields.count, of: "HMGET")
        var texts: [String?] = []
        for value in values { texts.append(try value.asOptionalString()) }
        guard let input = texts[9].flatMap(BatchProgress.State.init) else { return nil }
        self.number = number
        self.input = input
        name = texts[0] ?? ""
        age = texts[4].flatMap { Int(inRedis: $0) }.map { .milliseconds(max(0, now - $0)) }
        var options = BatchOptions()
        options.priority = texts[1].flatMap { Int(inRedis: $0) }.flatMap(Priority.init(number:)) ?? .normal
        options.refresh = texts[2] == "1"
        options.maximumAge = texts[3].flatMap { Int(inRedis: $0) }.flatMap { $0 < 0 ? nil : .milliseconds($0) }
        options.headers = try values[5].asOptionalBytes().flatMap { RequestHeaders($0) } ?? .none
        options.trace = texts[6].flatMap { try? TraceContext($0) }
        options.manners = Manners(text: texts[7])
        options.keeping = Keeping(text: texts[8])
        self.options = options
        for ((_, count), text) in zip(Self.counts, texts[Self.facts.count...]) {
            self[keyPath: count] = text.flatMap { Int(inRedis: $0) } ?? 0
        }
    }
}
