@testable import ClusterState

/// One call as it is made, with all its arguments. The same call again is its repetition.
enum Call {
    case clock(Int)
    case begin(queue: Int, name: String, BatchOptions)
    case enqueue(EnqueueCall)
    case claim(ClaimCall)
    case settle(SettleCall)
    case renew([LockToken])
    /// A redirect leads a request to another host.
    case move(LockToken, host: Int)
    case acquire(AcquireCall)
    case cancel(BatchKey)
    case pause(queue: Int, Bool)
    case rule(host: Int, HostRule?)
    case reclaim(queue: Int)
    /// A worker says that it lives, or that it leaves.
    case beat(queue: Int, worker: Int, leaves: Bool)
    case sweep(SweepCall)
    /// The server is killed and started again. Every answer that it gave before still holds.
    case crash
    /// The death of a worker or of a caller.
    case death(String)
}

struct EnqueueCall {
    let batch: BatchKey
    let jobs: [(serial: Int, url: Int)]
    let from: Int
    let to: Int
    let isClosing: Bool
    let delay: Int
}

struct ClaimCall {
    let queue: Int
    let worker: Int
    let limit: Int
    let nonce: Nonce
    let lease: Int
    let listens: Bool
}

struct SettleCall {
    struct Item {
        let token: LockToken
        let url: Int
        let outcome: Settlement.Outcome
        let host: Settlement.HostNews
        let bytes: Int

        var key: Token { Token(token) }
    }
    /// The caller's queue; callers without a job have none.
    let queue: Int?
    let items: [Item]
    let claimsAgain: Bool
    let random: Double
}

struct AcquireCall {
    let caller: Int
    let url: Int
    let request: AcquireRequest
}

extension Call: CustomStringConvertible {
    var description: String {
        switch self {
        case .clock(let ms): "the clock goes \(ms) ms"
        case .begin(let queue, let name, let options):
            "begin \(name) in \(queueNames[queue]): priority \(options.priority)\(options.refresh ? ", refresh" : "")"
                + "\(options.maximumAge.map { ", max age \($0)" } ?? "")\(options.deliversBodies ? ", delivers" : "")"
        case .enqueue(let call):
            "enqueue in \(queueNames[call.batch.queue]), batch \(call.batch.number), \(call.from) to \(call.to)"
                + "\(call.isClosing ? ", closing" : "")\(call.delay > 0 ? ", delay \(call.delay)" : ""): "
                + call.jobs.map { "job \($0.serial) of URL \($0.url)" }.joined(separator: ", ")
        case .claim(let call):
            "claim \(call.limit) from \(queueNames[call.queue]) by worker \(call.worker), lease \(call.lease)\(call.listens ? ", listening" : "")"
        case .settle(let call):
            "settle\(call.queue.map { " in " + queueNames[$0] } ?? "")\(call.claimsAgain ? "" : ", claims no more"): "
                + call.items.map { "\($0.key) of URL \($0.url) \($0.outcome.brief), host \($0.host)" }.joined(separator: "; ")
        case .renew(let tokens): "renew " + tokens.map { "\(Token($0))" }.joined(separator: ", ")
        case .move(let token, let host): "move \(Token(token)) to host \(host)"
        case .acquire(let call):
            "caller \(call.caller) acquires URL \(call.url)\(call.request.refresh ? ", refresh" : "")"
                + "\(call.request.since.map { ", since \($0)" } ?? "")\(call.request.inbox == nil ? "" : ", listening")"
                + "\(call.request.missingBody.map { ", missing \($0[0])" } ?? "")"
        case .cancel(let batch): "cancel batch \(batch.number) of \(queueNames[batch.queue])"
        case .pause(let queue, let isPaused): "\(isPaused ? "pause" : "resume") \(queueNames[queue])"
        case .rule(let host, let rule): "host \(host) has \(rule.map { "limit \($0.limit), interval \($0.interval)" } ?? "no rule")"
        case .reclaim(let queue): "reclaim all of \(queueNames[queue])"
        case .beat(let queue, let worker, let leaves): "worker \(worker) \(leaves ? "leaves" : "lives") in \(queueNames[queue])"
        case .sweep(let call): "\(call)"
        case .crash: "the server crashes"
        case .death(let who): "\(who) dies"
        }
    }
}

let queueNames = ["a", "b"]

extension Settlement.Outcome {
    var brief: String {
        switch self {
        case .fetched(_, let kept): "fetched (\(kept.brief))"
        case .revalidated(_, let kept): "revalidated (\(kept.brief))"
        case .failed(_, let kept): "failed (\(kept.brief))"
        case .retry(let pause): "to retry after \(pause)"
        case .throttled(let pause): "throttled\(pause.map { " for \($0)" } ?? "")"
        case .putOff(let pause): "put off for \(pause)"
        case .handedBack: "handed back"
        case .delivered: "delivered"
        case .bodyMissing(let digest): "body \(digest[0]) missing"
        }
    }
}

extension Retention {
    fileprivate var brief: String { "fresh \(fresh), kept \(keep)\(isStored ? "" : ", not stored")" }
}

extension Token {
    init(_ token: LockToken) {
        func number(_ range: Range<Int>) -> UInt64 { token.bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(number: number(0..<8), nonce: number(8..<16))
    }

    var flightToken: LockToken {
        LockToken([number, nonce].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } })
    }
}
