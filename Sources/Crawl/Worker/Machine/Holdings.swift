internal import GannetQueue

/// The locks, deliveries and places of an incarnation in a partition, as far as its worker knows.
///
/// Redis answers a number. On a difference the worker names all that it holds, and Redis takes back the rest uncharged. A difference that
/// stays after that is Redis' loss, as after a failover. It is accepted, and the settlements of its jobs will be told that they are lost.
struct Holdings {
    private var known: [Holding: LockToken] = [:]
    /// A place at a host that a request is asking for now. Redis may have given it.
    private var possible: Set<Holding> = []
    private var accepted = 0
    private(set) var haveToBeNamed = false

    var isEmpty: Bool { known.isEmpty && possible.isEmpty }
    var all: [Holding] { Array(known.keys) + possible.filter { known[$0] == nil } }

    func has(_ holding: Holding, _ token: LockToken) -> Bool { known[holding] == token }

    mutating func add(_ holding: Holding, _ token: LockToken) {
        known[holding] = token
        possible.remove(holding)
    }

    /// A job that was claimed again holds the same URL with another token.
    mutating func remove(_ holding: Holding, _ token: LockToken) {
        guard known[holding] == token else { return }
        known[holding] = nil
        if known.isEmpty { accepted = 0 }
    }

    mutating func mayHold(_ holding: Holding) { possible.insert(holding) }
    mutating func doesNotHold(_ holding: Holding) { possible.remove(holding) }

    mutating func compare(_ count: Int, hasNamed: Bool) -> Bool {
        let most = known.count + possible.filter { known[$0] == nil }.count
        let difference = count < known.count ? count - known.count : max(0, count - most)
        if hasNamed { accepted = difference }
        haveToBeNamed = difference != accepted
        return haveToBeNamed
    }
}
