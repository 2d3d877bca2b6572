/// How far a batch has been accepted.
package struct BatchProgress: Sendable, Equatable {
    /// The position in the producer's input up to which every line has been dealt with.
    package let offset: Int
    package let added: Int
    /// URLs of the batch that were already waiting or in flight.
    package let repeated: Int
}

/// What a claim brought.
package struct ClaimAnswer: Sendable {
    package struct Lease: Sendable {
        package let token: LeaseToken
        package let entry: JobEntry
    }

    package let leases: [Lease]

    /// Leases on entries of this version whose URL is no text. The script cannot tell; nobody can fetch them.
    package let unreadable: [LeaseToken]

    /// When the next lease of anyone ends, and its job would be claimable again.
    package let nextLeaseEnd: Duration?

    /// Jobs that this claim ended because three workers had died holding them.
    package let poisoned: Int

    /// Entries of another version that the claim met; they are behind all others now.
    package let foreign: Int

    /// Entries that wait after the claim, those among them.
    package let waiting: Int
}

/// How a lease may end.
package enum JobOutcome: String, Sendable {
    case done
    case failed
    /// Given up without prejudice; the job is the first to be claimed again.
    case handedBack = "back"
}

/// A queue's depths and totals.
package struct QueueCounts: Sendable, Equatable {
    package var ready = 0
    package var active = 0
    package var enqueued = 0
    package var done = 0
    package var failed = 0
    package var crashed = 0
    package var bytes = 0

    /// Nothing waits and nothing is in flight.
    package var isEmpty: Bool { ready == 0 && active == 0 }
}
