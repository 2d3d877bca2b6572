internal import GannetBase

/// A bound for the memory of bodies on their way: from origins, and to readers who may be slow.
///
/// A holder of a body has a claim for its bytes. Claims of the same array count once. Kept answers have a bound of their own.
package final class BodyRoom: Sendable {
    private struct State {
        var used = 0
        var refused = 0
        /// How many claims a whole body has, by the address of its bytes. A claim keeps the array, so nothing else has that address.
        var holders: [UInt: Int] = [:]
    }

    package let limit: Int
    private let state = Mutex(State())

    package init(limit: Int) { self.limit = limit }

    package var used: Int { state.withLock { $0.used } }

    /// How often a body found no room.
    package var refused: Int { state.withLock { $0.refused } }

    /// A claim for a body that begins to come.
    package func claim() -> BodyClaim { BodyClaim(self, []) }

    /// A claim for a whole body; nil where there is no room for it.
    package func claim(_ body: [UInt8]) -> BodyClaim? {
        guard let address = Self.address(of: body) else { return claim() }
        let hasRoom = state.withLock { state in
            guard state.holders[address] != nil || take(body.count, from: &state) else { return false }
            state.holders[address, default: 0] += 1
            return true
        }
        return hasRoom ? BodyClaim(self, body) : nil
    }

    fileprivate func take(_ count: Int) -> Bool { state.withLock { take(count, from: &$0) } }

    private func take(_ count: Int, from state: inout State) -> Bool {
        guard count <= limit - state.used else {
            state.refused += 1
            return false
        }
        state.used += count
        return true
    }

    fileprivate func free(_ grown: Int, _ body: [UInt8]) {
        let address = Self.address(of: body)
        state.withLock { state in
            state.used -= grown
            guard let address, let holders = state.holders[address] else { return }
            state.holders[address] = holders > 1 ? holders - 1 : nil
            if holders == 1 { state.used -= body.count }
        }
    }

    private static func address(of body: [UInt8]) -> UInt? {
        body.isEmpty ? nil : body.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
    }
}

/// Bytes of one body. They are free again when nobody holds the claim.
package final class BodyClaim: Sendable {
    private let room: BodyRoom
    /// Keeps the bytes where they are.
    private let body: [UInt8]
    private let grown = Mutex(0)

    fileprivate init(_ room: BodyRoom, _ body: [UInt8]) {
        self.room = room
        self.body = body
    }

    deinit { room.free(grown.withLock { $0 }, body) }

    /// More of the body has come. False where there is no room for it.
    package func grow(by count: Int) -> Bool {
        guard room.take(count) else { return false }
        grown.withLock { $0 += count }
        return true
    }
}
