/// The exchanges of one process with one partition. At most one is under way. An exchange that got no answer is repeated with the same number and
/// content until it is answered, so that a lost reply does no harm. A struct without a clock.
package struct Session: Sendable {
    package private(set) var incarnation: Incarnation
    private var number = 0
    /// The exchange without an answer so far.
    package private(set) var underWay: ExchangeRequest?
    package var isUnderWay: Bool { underWay != nil }
    package var holdings = Holdings()

    package init(_ incarnation: Incarnation) { self.incarnation = incarnation }

    /// The next exchange. It names all that the process holds, if the last answer's count differed.
    package mutating func begin(_ basis: ExchangeRequest, settling settlements: [Settlement]) -> ExchangeRequest {
        number += 1
        var request = basis
        request.incarnation = incarnation
        request.number = number
        request.settlements = settlements
        if holdings.haveToBeNamed { request.held = holdings.all }
        underWay = request
        return request
    }

    /// The exchange under way has ended: it is answered, or is not repeated.
    @discardableResult
    package mutating func end() -> ExchangeRequest? { underWay.take() }

    /// The lease has ended, and all that the process held with it. The exchange under way goes again, as the first of a new incarnation.
    @discardableResult
    package mutating func beginAnew(_ incarnation: Incarnation) -> ExchangeRequest? {
        self.incarnation = incarnation
        holdings = Holdings()
        number = 0
        guard var request = end() else { return nil }
        request.held = nil
        return begin(request, settling: request.settlements)
    }
}

/// The locks, deliveries and places of an incarnation in a partition, as far as its process knows.
///
/// Redis answers a number. On a difference the process names all that it holds, and Redis takes back the rest uncharged. A difference that
/// stays after that is Redis' loss, as after a failover. It is accepted, and the settlements of its jobs will be told that they are lost.
package struct Holdings: Sendable {
    private var known: [Holding: LockToken] = [:]
    /// A lock or a place for which requests are asking now: so many of them. Redis may have given it.
    private var possible: [Holding: Int] = [:]
    private var accepted = 0
    package private(set) var haveToBeNamed = false

    package init() {}

    package var isEmpty: Bool { known.isEmpty && possible.isEmpty }
    package var all: [Holding] { Array(known.keys) + onlyPossible }
    private var onlyPossible: [Holding] { possible.keys.filter { known[$0] == nil } }

    package mutating func add(_ holding: Holding, _ token: LockToken) {
        known[holding] = token
        mayNotHold(holding)
    }

    /// A job that was claimed again holds the same URL with another token.
    package mutating func remove(_ holding: Holding, _ token: LockToken) {
        guard known[holding] == token else { return }
        known[holding] = nil
        if known.isEmpty { accepted = 0 }
    }

    /// A request asks for it, until ``mayNotHold(_:)`` or ``add(_:_:)``.
    package mutating func mayHold(_ holding: Holding) { possible[holding, default: 0] += 1 }

    package mutating func mayNotHold(_ holding: Holding) {
        guard let count = possible[holding] else { return }
        possible[holding] = count > 1 ? count - 1 : nil
    }

    /// A request got no answer. Redis may have given what nobody here knows of.
    package mutating func mayHoldUnknown() { haveToBeNamed = true }

    /// - Parameters:
    ///   - count: Redis' number.
    ///   - hasNamed: Whether the exchange has named all.
    ///   - mayBeLate: Whether Redis may have given something after it had counted, apart from exchanges. Fewer than known are no difference then.
    package mutating func compare(_ count: Int, hasNamed: Bool, mayBeLate: Bool = false) {
        let difference = count < known.count ? (mayBeLate ? 0 : count - known.count) : max(0, count - known.count - onlyPossible.count)
        if hasNamed { accepted = difference }
        haveToBeNamed = difference != accepted
    }
}
