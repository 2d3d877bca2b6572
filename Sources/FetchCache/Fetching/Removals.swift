internal import GannetBasics
internal import HTTPCaching

/// What was removed while it was being fetched: what is on its way then is for those who wait for it, and is not kept.
///
/// Removals are counted and not timed, since a clock may be set back. Only what lies on a disk is told by its time.
final class Removals: Sendable {
    /// How many removals there had been when something began; those that follow concern it.
    struct Mark: Sendable, Hashable { fileprivate let number: UInt64 }

    private struct Note: Sendable {
        let number: UInt64
        let at: Moment
    }

    private struct State {
        var last: UInt64 = 0
        var all: Note?
        /// Forgotten when there are too many: whatever is under way then counts as removed.
        var keys: [CacheKey: Note] = [:]
        var forgotten: UInt64 = 0

        mutating func note(at now: Moment) -> Note {
            last += 1
            return Note(number: last, at: now)
        }
    }

    private static let most = 10_000
    private let state = Mutex(State())

    var mark: Mark { state.withLock { Mark(number: $0.last) } }

    func note(_ key: CacheKey, at now: Moment) {
        state.withLock { state in
            if state.keys.count >= Self.most {
                state.keys = [:]
                state.forgotten = state.last
            }
            state.keys[key] = state.note(at: now)
        }
    }

    func noteAll(at now: Moment) { state.withLock { $0.all = $0.note(at: now) } }

    func concern(_ key: CacheKey, since mark: Mark) -> Bool {
        concernAlone(key, since: mark) || state.withLock { $0.all?.number ?? 0 } > mark.number
    }

    /// Whether it was removed one by one, and so in all tiers.
    func concernAlone(_ key: CacheKey, since mark: Mark) -> Bool {
        state.withLock { max($0.keys[key]?.number ?? 0, $0.forgotten) } > mark.number
    }

    /// Whether what was asked for at that moment had been removed later on, by the clock: a disk may not have let go of it. Where the clock was
    /// set back further than `tolerance` since, it tells nothing.
    func outdate(_ key: CacheKey, askedAt: Moment, now: Moment, tolerance: Duration) -> Bool {
        let notes = state.withLock { [$0.keys[key], $0.all] }
        return notes.contains { note in note.map { askedAt <= $0.at && $0.at <= now + tolerance } ?? false }
    }
}
