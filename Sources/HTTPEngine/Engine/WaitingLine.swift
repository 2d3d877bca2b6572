/// Tickets in the order they came, from which any may leave: what waits for a free place in the engine.
struct WaitingLine {
    private var tickets: [UInt64: TransferTicket] = [:]
    /// Ids in order; those that have left are skipped, and swept out before they outnumber the rest.
    private var order: [UInt64] = []
    private var head = 0

    var isEmpty: Bool { tickets.isEmpty }

    mutating func append(_ ticket: TransferTicket) {
        tickets[ticket.id] = ticket
        order.append(ticket.id)
        if order.count > 2 * tickets.count + 64 {
            order = order[head...].filter { tickets[$0] != nil }
            head = 0
        }
    }

    mutating func popFirst() -> TransferTicket? {
        while head < order.count {
            let id = order[head]
            head += 1
            if let ticket = tickets.removeValue(forKey: id) { return ticket }
        }
        order.removeAll(keepingCapacity: false)
        head = 0
        return nil
    }

    mutating func remove(_ id: UInt64) -> TransferTicket? { tickets.removeValue(forKey: id) }
}
