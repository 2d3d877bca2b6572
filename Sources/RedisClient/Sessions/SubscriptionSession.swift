/// Channels and who listens to them, on a connection that does nothing else.
///
/// The server's confirmations come in the order of what was asked, with messages in between. After a reconnect every channel is
/// subscribed again, and each listener is told that it may have missed something.
final class SubscriptionSession: Session {
    typealias Instant = ContinuousClock.Instant

    private struct Ear {
        let listener: Listener
        var unconfirmed: Set<String>
        var hasBeenConfirmed = false
        /// An event had to be dropped, or the connection was lost: said before the next event.
        var hasMissed = false
    }

    private enum Expectation {
        case subscribed(String)
        case unsubscribed
        case pong
    }

    private let mailbox: Mailbox<SubscriptionMessage>
    private let replyTimeout: Duration
    private var arrived: [SubscriptionMessage] = []
    private var ears: [UInt64: Ear] = [:]
    private var listenersOf: [String: Set<UInt64>] = [:]
    private var expected = Fifo<Expectation>()
    private var toSend: [RedisCommand] = []
    private var isConnected = false
    private var lastHeard: Instant
    private var answerDue: Instant?

    /// A connection that only listens would not notice that its peer is gone: it asks, when it has heard nothing for this long.
    private static let quietTime = Duration.seconds(15)

    init(_ mailbox: Mailbox<SubscriptionMessage>, replyTimeout: Duration) {
        self.mailbox = mailbox
        self.replyTimeout = replyTimeout
        lastHeard = .now
    }

    var isIdle: Bool { expected.isEmpty }

    var nextDeadline: Instant? {
        let waiting = ears.values.filter { !$0.hasBeenConfirmed }.map(\.listener.deadline)
        return (waiting + [isConnected ? answerDue ?? lastHeard + Self.quietTime : nil].compactMap { $0 }).min()
    }

    func takeMessages() -> Bool {
        arrived.removeAll(keepingCapacity: true)
        let isOpen = mailbox.take(into: &arrived, releasing: arrived.count)
        for message in arrived {
            switch message {
            case .listen(let listener): add(listener)
            case .leave(let id): remove(id)
            }
        }
        return isOpen
    }

    func maySleep() -> Bool { mailbox.mayOwnerSleep() }
    func woke() { mailbox.ownerWoke() }

    func began(now: Instant) {
        isConnected = true
        lastHeard = now
        for channel in listenersOf.keys { subscribe(channel) }
    }

    func collect(into output: inout OutputQueue) {
        toSend.forEach { output.append($0) }
        toSend.removeAll(keepingCapacity: true)
    }

    func receive(_ reply: RedisReply, output: inout OutputQueue) -> SessionVerdict {
        lastHeard = .now
        if case .array(let parts) = reply, parts.count == 3, (try? parts[0].asString()) == "message" {
            guard let channel = try? parts[1].asString(), let payload = try? parts[2].asBytes() else { return .unasked }
            for id in listenersOf[channel] ?? [] { tell(id, .message(channel: channel, payload: payload)) }
            return .goOn
        }
        guard let expectation = expected.popFirst() else { return .unasked }
        answerDue = expected.isEmpty ? nil : .now + replyTimeout
        if case .subscribed(let channel) = expectation {
            if case .error(let error) = reply { refuse(channel, error) } else { confirm(channel) }
        }
        return .goOn
    }

    func expire(now: Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError? {
        for ear in ears.values where !ear.hasBeenConfirmed && ear.listener.deadline <= now {
            let error = reason.map { RedisError(.unavailable, $0.detail, server: $0.server) } ?? RedisError(.commandTimeout)
            end(ear.listener.id, error)
        }
        guard isConnected else { return nil }
        if let answerDue, answerDue <= now { return RedisError(.commandTimeout) }
        if answerDue == nil, lastHeard + Self.quietTime <= now {
            send(RedisCommand("PING"), expecting: .pong)
        }
        return nil
    }

    func lost(_ error: RedisError, written: Int) {
        isConnected = false
        _ = expected.removeAll()
        toSend = []
        answerDue = nil
        for (id, ear) in ears {
            ears[id] = Ear(
                listener: ear.listener, unconfirmed: ear.listener.channels, hasBeenConfirmed: ear.hasBeenConfirmed,
                hasMissed: ear.hasBeenConfirmed)
        }
    }

    func stop(_ error: RedisError) {
        mailbox.close()
        _ = takeMessages()
        for id in Array(ears.keys) { end(id, error) }
    }
}

// MARK: - Listeners

extension SubscriptionSession {
    private func add(_ listener: Listener) {
        ears[listener.id] = Ear(listener: listener, unconfirmed: listener.channels)
        for channel in listener.channels {
            listenersOf[channel, default: []].insert(listener.id)
            // Asked again also when others listen already: the confirmation is what this caller waits for.
            if isConnected { subscribe(channel) }
        }
    }

    private func remove(_ id: UInt64) {
        guard let ear = ears.removeValue(forKey: id) else { return }
        for channel in ear.listener.channels {
            listenersOf[channel]?.remove(id)
            guard listenersOf[channel]?.isEmpty == true else { continue }
            listenersOf[channel] = nil
            if isConnected { send(RedisCommand("UNSUBSCRIBE", .string(channel)), expecting: .unsubscribed) }
        }
    }

    private func end(_ id: UInt64, _ error: RedisError) {
        guard let ear = ears[id] else { return }
        remove(id)
        ear.listener.confirmed.fire(.failure(error))
        ear.listener.events.finish()
    }

    private func subscribe(_ channel: String) {
        send(RedisCommand("SUBSCRIBE", .string(channel)), expecting: .subscribed(channel))
    }

    private func send(_ command: RedisCommand, expecting expectation: Expectation) {
        toSend.append(command)
        expected.append(expectation)
        if answerDue == nil { answerDue = .now + replyTimeout }
    }

    private func confirm(_ channel: String) {
        for id in listenersOf[channel] ?? [] {
            guard ears[id]?.unconfirmed.remove(channel) != nil, ears[id]?.unconfirmed.isEmpty == true else { continue }
            ears[id]?.hasBeenConfirmed = true
            ears[id]?.listener.confirmed.fire(.success(()))
            if ears[id]?.hasMissed == true { tell(id, nil) }
        }
    }

    private func refuse(_ channel: String, _ error: RedisError) {
        for id in listenersOf[channel] ?? [] { end(id, error) }
    }

    /// Hands an event over, after the word that something was missed where that is due.
    private func tell(_ id: UInt64, _ event: RedisSubscription.Event?) {
        guard let events = ears[id]?.listener.events else { return }
        if ears[id]?.hasMissed == true, case .enqueued = events.yield(.interrupted) { ears[id]?.hasMissed = false }
        if let event, case .dropped = events.yield(event) { ears[id]?.hasMissed = true }
    }
}
