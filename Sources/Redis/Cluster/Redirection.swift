/// The hint of a cluster's node to a command for a slot that the node does not have: `3999 10.0.0.2:6379`.
package struct Redirection: Equatable {
    package let slot: HashSlot
    package let address: RedisAddress

    /// - Parameter asked: The node that sent the command on.
    package init?(_ error: RedisError, from asked: RedisAddress) {
        guard [.moved, .ask].contains(error.kind) else { return nil }
        let words = error.detail.split(separator: " ")
        guard words.count >= 2, let number = Int(words[0]), (0..<HashSlot.count).contains(number),
            let colon = words[1].lastIndex(of: ":"), let port = Int(words[1][words[1].index(after: colon)...]),
            RedisAddress.ports.contains(port)
        else { return nil }
        slot = HashSlot(number: number)
        address = ClusterMap.address(String(words[1][..<colon]), port, asked)
    }
}
