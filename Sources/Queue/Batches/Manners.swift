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
