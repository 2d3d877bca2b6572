/// The options of a batch. All jobs of the batch have the options that it was begun with.
package struct BatchOptions: Sendable, Equatable {
    package var priority = Priority.normal

    /// No worker claims a job before this time has passed since the job was accepted. The batch's record does not keep the delay.
    package var delay = Duration.zero

    /// Accepts only outcomes of fetches that began after the job was enqueued.
    package var refresh = false

    /// How old an existing outcome may be. `nil` accepts an outcome while it is fresh.
    package var maximumAge: Duration?

    /// Headers that are sent with the batch's requests. The ids of its URLs depend on them.
    package var headers = RequestHeaders.none

    /// The trace that the batch belongs to. Unlike headers, a trace makes no other request of a URL.
    package var trace: TraceContext?

    /// Whether the jobs obey the sites that they fetch from.
    package var manners = Manners.ignoring

    package var keeping = Keeping.bodies

    package init() {}
}

/// The part of a batch's fetches that stays, where bodies are in Redis.
package enum Keeping: String, Sendable {
    /// Bodies, until somebody has exported the batch.
    case bodies
    /// The same, and what went over the wire, so that an export can write archives of it.
    case wire
    /// Bodies, until they have to make room.
    case cache

    init(text: String?) { self = text.flatMap { Keeping(rawValue: $0) } ?? .bodies }

    /// In the batch's record, where it is none of the usual.
    var text: String? { self == .bodies ? nil : rawValue }

    /// The least time for which outcomes are kept, regardless of what origins say. They are the rows of an export, so they outlive the bodies
    /// that wait for it, by a day: `bodies.lua` holds those for 30 days. `returns.lua` has the same times.
    package var outcomesKept: Duration { self == .cache ? .seconds(86_400) : .seconds(31 * 86_400) }
}

/// While all three have jobs, six of ten claimed jobs are high, three are normal and one is low.
///
/// Redis keeps the number, so a new priority comes behind the others. `Scripts/Parts/blocks.lua` has the names of the numbers.
package enum Priority: String, Sendable, CaseIterable {
    case high, normal, low

    /// The number that stands for the priority in Redis.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    init?(number: Int) {
        guard (1...Self.allCases.count).contains(number) else { return nil }
        self = Self.allCases[number - 1]
    }
}

/// Whether the jobs of a batch obey the sites that they fetch from. Redis tells it to each worker with the batch, so that all workers treat the
/// batch alike.
package struct Manners: Sendable, Equatable {
    package enum Robots: String, Sendable, CaseIterable {
        /// No request is made that the robots.txt of its origin disallows.
        case obey
        case ignore
    }

    /// The treatment of an answer whose head reserves its use, such as `X-Robots-Tag: noai`.
    package enum OptOuts: String, Sendable, CaseIterable {
        /// Its body is not stored.
        case heed
        case ignore
        /// Its body is stored, and the reservation is noted beside it.
        case record
    }

    package var robots: Robots
    package var optOuts: OptOuts

    package init(robots: Robots = .ignore, optOuts: OptOuts = .ignore) {
        self.robots = robots
        self.optOuts = optOuts
    }

    package static let ignoring = Manners()
    package static let obeying = Manners(robots: .obey, optOuts: .heed)

    package var obeys: Bool { robots == .obey }
}

extension Manners {
    /// The two words as a batch's record has them. A batch that ignores both has none.
    var text: String? { self == .ignoring ? nil : "\(robots.rawValue) \(optOuts.rawValue)" }

    /// An unknown word is taken for the strictest: the jobs of its batch ask for too little rather than too much.
    init(text: String?) {
        guard let text else {
            self = .ignoring
            return
        }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        robots = words.first.flatMap(Robots.init) ?? .obey
        optOuts = words.dropFirst().first.flatMap(OptOuts.init) ?? .heed
    }
}
