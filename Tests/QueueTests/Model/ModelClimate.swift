import GannetTestKit

@testable import GannetQueue

/// The circumstances of a course, drawn from its seed.
struct ModelClimate: Sendable {
    let hosts: Int
    let urls: Int
    let partitions: Int
    /// How long leases last, ms.
    let leases: [Int]
    /// How many requests a host may have in flight. All workers say the same.
    let limit: Int
    /// How many of them it has before it answers.
    let first: Int
    let interval: Int
    /// For how long a request may hold its URL, ms.
    let longestHold: Int
    let patience: Int
    /// How many requests without an answer end the wait for a host that has never answered.
    let probes: Int
    /// For how long a host may ask for rests, and a URL be put off, ms.
    let giveUpAfter: Int
    let wanted: [Int]
    /// The longest chunk that a producer sends.
    let chunk: Int
    /// Whether requests leave their hosts' places while their jobs go on, because their bodies wait to be stored.
    let leavesEarly: Bool
    /// Whether hosts answer other requests before those for the URLs.
    let answersBefore: Bool
    /// How likely each end of a request is.
    let ends: [(ModelEnd, Int)]

    init(seed: UInt64, partitions: Int, isCrowded: Bool) {
        var draw = Draw(seed &+ 1)
        var (busyDraw, probesDraw) = (Draw(seed &+ 2), Draw(seed &+ 3))
        // Many URLs of all priorities come back, and each call wants some of them.
        let isBusy = !isCrowded && busyDraw.chance(20)
        self.partitions = partitions
        hosts = draw.one(of: isCrowded ? [40] : [1, 2, 3, 5])
        urls = isCrowded ? 300 : isBusy ? 100 : draw.one(of: [2, 6, 24])
        leases = draw.one(of: [[30_000], [3000, 30_000], [60]])
        limit = draw.one(of: isBusy ? [3, 1000] : [1, 2, 3, 1000])
        interval = isBusy ? 0 : draw.one(of: [0, 0, 0, 200])
        longestHold = draw.one(of: [3_600_000, 3_600_000, 4000])
        patience = draw.one(of: [0, 20_000])
        probes = probesDraw.one(of: [0, 1, 3])
        first = probesDraw.one(of: [1, 1, 1000])
        giveUpAfter = probesDraw.one(of: [0, 0, 10_000])
        wanted = isCrowded ? [64, 250] : isBusy ? [10] : draw.one(of: [[1], [1, 4, 10], [30]])
        leavesEarly = seed % 5 == 4
        answersBefore = seed % 4 == 2
        chunk = isCrowded ? 400 : isBusy ? 60 : draw.one(of: [3, 20])
        ends = draw.one(of: [
            [(.fetched, 10), (.retry, 3), (.throttled, 2), (.back, 1), (.failed, 1), (.putOff, 1), (.unstored, 1), (.revalidated, 1)],
            [(.retry, 10), (.fetched, 2), (.back, 3), (.failed, 1)], [(.fetched, 10)],
            [(.unreachable, 6), (.throttled, 3), (.fetched, 2), (.failed, 1)],
        ])
    }
}

/// How a request ends.
enum ModelEnd: String, Sendable {
    case fetched, revalidated, unstored, failed, retry, unreachable, throttled, putOff, back

    /// Whether the job ends with it.
    var isEnd: Bool {
        switch self {
        case .fetched, .revalidated, .unstored, .failed: true
        default: false
        }
    }

    var isFetch: Bool { isEnd && self != .failed }
    var isCharged: Bool { self == .retry || self == .unreachable }

    func outcome(_ url: String, _ draw: inout Draw) -> Settlement.Outcome {
        var content = OutcomeContent(url: url)
        content.digest = [UInt8](repeating: 7, count: 32)
        content.fields = [.errorClass: "timeout"]
        let fresh = Duration.seconds(draw.one(of: [0, 5, 3600]))
        let keep = Duration.seconds(draw.one(of: [5, 86_400]))
        let pause = Duration.milliseconds(draw.one(of: [0, 1, 500, 8000]))
        return switch self {
        case .fetched: .fetched(content, Retention(fresh: fresh, keep: keep))
        case .unstored: .fetched(content, Retention(fresh: fresh, keep: keep, isStored: false))
        case .revalidated: .revalidated(content, Retention(fresh: fresh, keep: keep))
        case .failed: .failed(content, Retention(fresh: fresh, keep: keep))
        case .retry, .unreachable: .retry(content, after: pause)
        case .throttled: .throttled(content, for: draw.chance(50) ? nil : pause)
        case .putOff: .putOff(content, for: pause)
        case .back: .handedBack
        }
    }

    func host(_ draw: inout Draw) -> Settlement.HostNews {
        switch self {
        case .unreachable: .silent
        case .back, .putOff: .none
        case .throttled: .answered
        default: draw.chance(90) ? .answered : .none
        }
    }
}

struct Violation: Error, CustomStringConvertible {
    let description: String

    static func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws {
        if !holds { throw Violation(description: sentence()) }
    }
}
