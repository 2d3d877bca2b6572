internal import GannetBase
internal import GannetHTTP

/// Removals during fetches: an answer that is removed while it is being fetched goes to the callers that wait, and is not kept.
///
/// Removals are numbered and not timed, because a clock may be set back. Only answers on a disk are compared by time.
final class Removals: Sendable {
    /// The number of removals when something began. Later removals concern it.
    struct Mark: Sendable, Hashable { fileprivate let number: UInt64 }

    private struct Note: Sendable {
        let number: UInt64
        let at: Moment
    }

    private struct State {
        var last: UInt64 = 0
        var all: Note?
        /// Emptied when there are too many. Everything under way then counts as removed.
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

    /// Whether the key was removed by itself, and so from all tiers.
    func concernAlone(_ key: CacheKey, since mark: Mark) -> Bool {
        state.withLock { max($0.keys[key]?.number ?? 0, $0.forgotten) } > mark.number
    }

    /// Whether a removal came after this moment by the clock: a disk may have failed to remove the answer. A note from further in the future
    /// than `tolerance` says nothing, because the clock was set back since.
    func outdate(_ key: CacheKey, askedAt: Moment, now: Moment, tolerance: Duration) -> Bool {
        let notes = state.withLock { [$0.keys[key], $0.all] }
        return notes.contains { note in note.map { askedAt <= $0.at && $0.at <= now + tolerance } ?? false }
    }
}
