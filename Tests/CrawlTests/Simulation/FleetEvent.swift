import GannetTestKit

/// One thing that happens to a simulated fleet. Its own numbers decide to which worker or request it happens, when its turn comes. So it
/// stays the same kind of thing when events before it are left out.
struct FleetEvent: Sendable {
    enum Kind: CaseIterable {
        /// Time goes by, for Redis and for all workers.
        case time
        /// A message to Redis arrives, and so does its answer.
        case arrives
        /// A message to Redis is lost, or its answer is, or the message arrives long after its sender has lost patience.
        case isLost, answerIsLost, arrivesLate
        /// A request to the origin ends; a body is stored.
        case ends, isStored
        case enqueue, cancel, pause, resume
        /// A worker is killed, or starts; it is stopped for some time, and goes on.
        case dies, starts, freezes, goesOn
        /// A worker is asked to end.
        case isStopped
        /// The message that there are jobs.
        case hears
    }

    let kind: Kind
    let seed: UInt64

    /// The first `count` events of a seed. Every fourth seed has many troubles, and every other fourth has few.
    static func course(seed: UInt64, count: Int) -> [FleetEvent] {
        var draw = Draw(seed)
        let trouble = [3, 1, 8, 1][Int(seed % 4)]
        let weights = usual + troubles.map { ($0.0, $0.1 * trouble) }
        return (0..<count).map { _ in FleetEvent(kind: draw.one(of: weights), seed: draw.number()) }
    }

    private static let usual: [(Kind, Int)] = [
        (.time, 20), (.arrives, 60), (.ends, 30), (.isStored, 12), (.enqueue, 8), (.hears, 6), (.cancel, 1), (.pause, 1), (.resume, 3),
    ]
    private static let troubles: [(Kind, Int)] = [
        (.isLost, 2), (.answerIsLost, 2), (.arrivesLate, 1), (.dies, 1), (.starts, 2), (.freezes, 1), (.goesOn, 2), (.isStopped, 1),
    ]
}

/// The numbers of a course, by its seed.
struct FleetClimate {
    let partitions: Int
    let workers: Int
    let places: Int
    let hostLimit: Int
    let hosts: Int
    let urls: Int
    let lease: Duration
    let retries: Int

    init(seed: UInt64) {
        var draw = Draw(seed &+ 1)
        partitions = draw.one(of: [1, 1, 2, 3])
        workers = draw.below(4) + 1
        places = draw.one(of: [1, 2, 4, 40])
        hostLimit = draw.below(3) + 1
        hosts = draw.below(5) + 1
        urls = draw.one(of: [3, 10, 40])
        lease = draw.one(of: [.seconds(2), .seconds(10), .seconds(30)])
        retries = draw.below(3)
    }
}
