/// Names with their outcomes, for as long as they are valid.
///
/// When it is full, a hand that moves over the entries finds the next to go. It spares an entry once that was used since its last visit. This
/// is as good as the order of use here, and a read moves no entry.
struct ResolverCache {
    typealias Instant = ContinuousClock.Instant

    private struct Entry {
        let name: String
        var outcome: Resolution
        var end: Instant
        var wasUsed: Bool
    }

    private let maximum: Int
    private var entries: [Entry] = []
    private var places: [String: Int] = [:]
    private var hand = 0

    init(maximum: Int) {
        self.maximum = maximum
    }

    var count: Int { entries.count }

    mutating func outcome(for name: String, at now: Instant) -> Resolution? {
        guard let place = places[name], entries[place].end > now else { return nil }
        entries[place].wasUsed = true
        return entries[place].outcome
    }

    mutating func store(_ outcome: Resolution, for name: String, until end: Instant, at now: Instant) {
        if let place = places[name] {
            entries[place].outcome = outcome
            entries[place].end = end
        } else if entries.count < maximum {
            places[name] = entries.count
            entries.append(Entry(name: name, outcome: outcome, end: end, wasUsed: false))
        } else {
            // One whole round at most: behind the hand no entry is marked as used.
            while entries[hand].wasUsed && entries[hand].end > now {
                entries[hand].wasUsed = false
                hand = (hand + 1) % entries.count
            }
            places[entries[hand].name] = nil
            places[name] = hand
            entries[hand] = Entry(name: name, outcome: outcome, end: end, wasUsed: false)
            hand = (hand + 1) % entries.count
        }
    }

    mutating func removeAll() {
        entries = []
        places = [:]
        hand = 0
    }

    /// How long an outcome is valid: the name servers' word, within limits; zero when it must not be kept.
    static func lifetime(of outcome: Resolution, ttl: UInt32?) -> Duration {
        // An hour at most, since hosts move, and not less than a second, so that the URLs of one page are one question.
        guard case .failure(let failure) = outcome else { return .seconds(min(max(ttl ?? 0, 1), 3600)) }
        return switch failure.kind {
        case .dns(.noSuchName), .dns(.noAddress): .seconds(min(max(ttl ?? 30, 1), 300))
        // For requests of the same moment. The next attempt may come soon, and must ask again.
        case .dns(.serverFailed), .timeout: .milliseconds(200)
        default: .zero
        }
    }
}
