import RedisClient

@testable import ClusterState

/// Everything in Redis at one moment, decoded without the product's own code.
struct StateLook: Equatable {
    var clock = ModelClock()
    var flights: [Token: FlightLook] = [:]
    var leaseEnds = 0
    /// How many requests are noted as being at other hosts than their own.
    var moves = 0
    var locks: [Int: Token] = [:]
    var pages: [Int: PageLook] = [:]
    var waiters: [Int: Set<Int>] = [:]
    var freed: [FreedLook] = []
    var hosts: [Int: HostLook] = [:]
    var jobs: [Int: JobLook] = [:]
    var lines: [Line: [Int]] = [:]
    var due: [Line: Int] = [:]
    var dead: [Int: JobRecord] = [:]
    var deadCounts = [0, 0]
    var counts: [Int: [Int]] = [:]
    var batches: [BatchKey: [Int]] = [:]
    var finished: [BatchKey: Int] = [:]
    var ended: Set<BatchKey> = []
    var idle: [Int: Set<Int>] = [:]
    /// Keys that the look does not know, and jobs that are in two places.
    var strange: [String] = []
}

/// The token of a lease or a lock, as two numbers.
struct Token: Hashable, Comparable, CustomStringConvertible {
    let number: UInt64
    let nonce: UInt64

    static func < (one: Token, other: Token) -> Bool { one.number < other.number }
    var description: String { "token \(number)" }
}

struct BatchKey: Hashable {
    let queue: Int
    let number: Int
}

/// A job as it is written in Redis.
struct JobRecord: Equatable {
    var serial, queue, batch, url, enqueued, crashes, failures, throttled: Int
    /// Whether the job is marked as not to be fetched without the headers of its batch.
    var hasHeaders: Int
}

struct JobLook: Equatable {
    var record: JobRecord
    var place: Place
}

enum Place: Equatable {
    case line(Line)
    case later(due: Int, Token)
    case leased(Token)
}

/// A list of jobs in which the order counts.
enum Line: Hashable {
    case ready(queue: Int, priority: Int)
    case held(queue: Int, priority: Int, host: Int)
    case parked(url: Int)
    case chain(Int)
}

struct FlightLook: Equatable {
    enum Kind: UInt8 {
        case job = 74
        case delivery = 67
        case caller = 65
        case pausing = 87
    }
    var kind: Kind
    var began, ends, url: Int
    var job: JobRecord?
    /// The host to which a redirect has led the job's request.
    var movedTo: Int?
}

struct PageLook: Equatable {
    var isNegative, isStored: Bool
    var began, ended, freshUntil: Int
    var digest: Int
    var token: Token
}

struct FreedLook: Equatable {
    enum Verdict: Int {
        case orphaned, succeeded, failed
    }
    var chain: Int
    var verdict: Verdict
    var began, ended, url: Int
}

struct HostLook: Equatable {
    var running = 0
    var next = 0
    var cool = 0
    var failures = 0
    var level = 0
    var probing = 0
    var down = 0
    var marks: Set<Int> = []
}
