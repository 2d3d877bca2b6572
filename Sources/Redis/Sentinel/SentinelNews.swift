internal import GannetBase

/// The newest word of all Sentinels, and the threads that wait for a newer one.
final class SentinelNews: Sendable {
    private struct State {
        var word: SentinelWord?
        var wakeups: [ObjectIdentifier: Wakeup] = [:]
    }

    private let state = Mutex(State())

    var word: SentinelWord? { state.withLock { $0.word } }

    func add(_ wakeup: Wakeup) { state.withLock { $0.wakeups[ObjectIdentifier(wakeup)] = wakeup } }
    func remove(_ wakeup: Wakeup) { state.withLock { $0.wakeups[ObjectIdentifier(wakeup)] = nil } }

    /// One Sentinel's word. A Sentinel that was cut off may have an old one.
    func hear(_ word: SentinelWord) { set(word) { word.epoch >= $0?.epoch ?? 0 } }

    /// The newest word of all Sentinels that answer. It is older than the `known` one only where none of them has that.
    func set(_ word: SentinelWord, inPlaceOf known: SentinelWord?) { set(word) { word.epoch >= $0?.epoch ?? 0 || $0 == known } }

    private func set(_ word: SentinelWord, if counts: (SentinelWord?) -> Bool) {
        let wakeups = state.withLock { state -> [Wakeup] in
            guard counts(state.word), state.word != word else { return [] }
            state.word = word
            return Array(state.wakeups.values)
        }
        for wakeup in wakeups { wakeup.signal() }
    }
}
