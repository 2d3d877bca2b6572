@testable import ClusterState

/// The settings in which courses differ.
struct ModelClimate {
    let lease: Int
    let urls: Int
    let hosts: Int
    let usual: HostRule
    /// How many jobs may be there before no more are enqueued.
    let mostJobs: Int
    let largestChunk: Int
    let claimLimits: [Int]
    /// About how many jobs are settled at once.
    let mostSettled: Int
    /// For how long, in ms, a host may take no connection; 0 for ever.
    let hostPatience: Int
    let ending: Ending
    /// Workers die often, and others come late.
    let isDeadly: Bool

    /// How the rest of the jobs is ended.
    enum Ending {
        /// By a worker that claims from both queues, again and again.
        case together
        /// In the same way, but from one queue until that is empty. This must not depend on a worker that claims from the other.
        case oneQueueFirst
        /// By a worker that claims when a claim has said so, and not before.
        case asTold
    }

    init(seed: UInt64, isCrowded: Bool) {
        var draw = Draw(seed ^ 0x5eed)
        isDeadly = !isCrowded && draw.chance(25)
        lease = isDeadly ? 3000 : draw.one(of: [3000, 12_000, 30_000])
        // Many jobs of few URLs reach the bounds at which a call leaves the rest to the next.
        urls = isCrowded ? 2 + draw.below(2) * 200 : isDeadly ? 2 : 3 + draw.below(6)
        hosts = isCrowded ? 1 + draw.below(30) : 2 + draw.below(3)
        let limits = isCrowded ? [1, 300] : [1, 2, 3]
        usual = HostRule(limit: draw.one(of: limits), interval: .milliseconds(draw.one(of: [0, 0, 0, 300])))
        mostJobs = isCrowded ? 3000 : 30
        largestChunk = isCrowded ? 900 : 6
        claimLimits = isCrowded ? [1, 100, 300, 1000] : [0, 1, 1, 2, 3, 5, 20]
        mostSettled = isCrowded ? 200 : 4
        ending = draw.one(of: [.together, .oneQueueFirst, .asTold])
        hostPatience = draw.one(of: [0, 1, 3000, 60_000])
    }
}
