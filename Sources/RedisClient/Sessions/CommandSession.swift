internal import GannetBasics

/// Commands and their replies on one connection: what waits to be sent, and what waits to be answered.
///
/// A command is framed at the last moment, when the socket is about to take it. Until then one that was cancelled or has timed
/// out is simply not sent, and one that never reached a lost connection goes out on the next.
final class CommandSession: Session {
    typealias Instant = ContinuousClock.Instant

    private let mailbox: Mailbox<Request>
    private let address: RedisAddress
    private var arrived: [Request] = []
    private var unsent = Fifo<Request>()
    private var flights = Fifo<Flight>()
    /// Backlog given free since the mailbox was last told.
    private var released = 0
    private(set) var nextDeadline: Instant?

    /// Framed but unwritten bytes beyond which nothing further is framed.
    private static let outputHighWater = 256 << 10

    init(_ mailbox: Mailbox<Request>, address: RedisAddress) {
        self.mailbox = mailbox
        self.address = address
    }

    var isIdle: Bool { flights.isEmpty }

    func takeMessages() -> Bool {
        arrived.removeAll(keepingCapacity: true)
        let isOpen = mailbox.take(into: &arrived, releasing: released)
        released = 0
        for request in arrived {
            unsent.append(request)
            if nextDeadline.map({ request.deadline < $0 }) ?? true { nextDeadline = request.deadline }
        }
        return isOpen
    }

    func maySleep() -> Bool { mailbox.mayOwnerSleep() }
    func woke() { mailbox.ownerWoke() }
    func began(now: Instant) {}

    func collect(into output: inout OutputQueue) {
        while output.pendingBytes < Self.outputHighWater, let request = unsent.popFirst() {
            released += request.weight
            guard request.beginSending() else { continue }
            flights.append(Flight(request, start: output.appended))
            switch request.payload {
            case .one(let command): output.append(command)
            case .many(let commands): for command in commands { output.append(command) }
            }
        }
    }

    func receive(_ reply: RedisReply, output: inout OutputQueue) -> SessionVerdict {
        guard let flight = flights.first else { return .unasked }
        var verdict = SessionVerdict.goOn
        if case .error(let error) = reply {
            if error.kind == .noScript, !flight.hasSource, let command = flight.command.withSource {
                flights.append(Flight(retrying: flight, start: output.appended))
                output.append(command)
            } else {
                if error.kind == .readOnly { verdict = .readOnly }
                flight.deliver(.failure(error.naming(commandIn: flight.command.script)))
            }
        } else {
            flight.deliver(.success(reply))
        }
        if flight.index + 1 == flight.end {
            _ = flights.popFirst()
        } else {
            flights.modifyFirst { $0.index += 1 }
        }
        return verdict
    }

    func expire(now: Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError? {
        guard let due = nextDeadline, now >= due else { return nil }
        // Everything behind an unanswered command waits with it: the connection is given up.
        if let head = flights.first, head.request.deadline <= now { return RedisError(.commandTimeout) }

        nextDeadline = nil
        expireUnsent(now, reason)
        flights.visit { flight in
            if flight.request.deadline <= now {
                flight.abandon(RedisError(.commandTimeout, "others before it are slow", mayHaveExecuted: true).at(address))
            } else {
                note(flight.request.deadline)
            }
        }
        return nil
    }

    func lost(_ error: RedisError, written: Int) {
        var unstarted: [Request] = []
        for flight in flights.removeAll() {
            let isStarted = flight.start < written
            if !isStarted, flight.isRepeatable {
                released -= flight.request.weight
                unstarted.append(flight.request)
            } else {
                var error = error
                error.mayHaveExecuted = isStarted
                flight.abandon(error)
            }
        }
        unsent.prepend(unstarted)
    }

    func stop(_ error: RedisError, written: Int) {
        // What is posted from here on is refused by the mailbox.
        mailbox.close()
        _ = takeMessages()
        lost(error, written: written)
        for request in unsent.removeAll() { request.fail(error) }
    }

    private func expireUnsent(_ now: Instant, _ reason: RedisError?) {
        let error = reason.map(RedisError.init(unavailableBecause:)) ?? RedisError(.commandTimeout, "it takes no further commands")
        unsent.filter { request in
            if request.deadline > now, !request.isFinished { return true }
            released += request.weight
            request.fail(error.at(address))
            return false
        }
        unsent.visit { note($0.deadline) }
    }

    private func note(_ deadline: Instant) {
        if nextDeadline.map({ deadline < $0 }) ?? true { nextDeadline = deadline }
    }
}
