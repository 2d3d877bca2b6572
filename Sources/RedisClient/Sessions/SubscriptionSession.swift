internal import GannetBasics

/// Channels and who listens to them, on a connection that does nothing else.
///
/// The server's confirmations come in the order of what was asked, with messages in between. After a reconnect every channel is
/// subscribed again, and each listener is told that it may have missed something.
final class SubscriptionSession: Session {
    typealias Instant = ContinuousClock.Instant

    private struct Ear {
        let listener: Listener
        var unconfirmed: Set<String>
        /// Confirmations of what was asked before this number mean nothing: others have asked, and left, in the meantime.
        var since: Int
        var hasBeenConfirmed = false
        /// The connection was lost: said before the next event.
        var hasMissed = false
        /// How many further events are certain to find room; the reader only ever makes more.
        var room = 2
    }

    private enum Expectation {
        case subscribed(String, number: Int)
        case unsubscribed
        case pong
    }

    private let mailbox: Mailbox<SubscriptionMessage>
    private let address: RedisAddress
    private let replyTimeout: Duration
    private let quietTime: Duration
    private var arrived: [SubscriptionMessage] = []
    private var released = 0
    private var ears: [UInt64: Ear] = [:]
    /// The ears that have not been confirmed yet: the few among many whose deadline counts.
    private var waiting: Set<UInt64> = []
    private var asked = 0
    private var listenersOf: [String: Set<UInt64>] = [:]
    private var expected = Fifo<Expectation>()
    private var toSend: [RedisCommand] = []
    private var isConnected = false
    private var lastHeard: Instant
    private var answerDue: Instant?

    /// - Parameter quietTime: A connection that only listens would not notice that its peer is gone: it asks, when it has heard
    ///   nothing for this long.
    init(
        _ mailbox: Mailbox<SubscriptionMessage>, address: RedisAddress, replyTimeout: Duration, quietTime: Duration = .seconds(15)
    ) {
        self.mailbox = mailbox
        self.address = address
        self.replyTimeout = replyTimeout
        self.quietTime = quietTime
        lastHeard = .now
    }

    var isIdle: Bool { expected.isEmpty }

    var nextDeadline: Instant? {
        let confirmation = waiting.lazy.compactMap { self.ears[$0]?.listener.deadline }.min()
        guard isConnected else { return confirmation }
        let answer = answerDue ?? lastHeard + quietTime
        return confirmation.map { min($0, answer) } ?? answer
    }

    func takeMessages() -> Bool {
        arrived.removeAll(keepingCapacity: true)
        let isOpen = mailbox.take(into: &arrived, releasing: released)
        released = 0
        for message in arrived {
            switch message {
            case .listen(let listener):
                released += 1
                add(listener)
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
        asked += 1
        for channel in listenersOf.keys { subscribe(channel) }
    }

    func collect(into output: inout OutputQueue) {
        for command in toSend { output.append(command) }
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
        if case .subscribed(let channel, let number) = expectation {
            if case .error(let error) = reply { refuse(channel, error) } else { confirm(channel, number) }
        }
        return .goOn
    }

    func expire(now: Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError? {
        for id in waiting {
            guard let ear = ears[id], ear.listener.deadline <= now else { continue }
            end(id, (reason.map(RedisError.init(unavailableBecause:)) ?? RedisError(.commandTimeout)).at(address))
        }
        guard isConnected else { return nil }
        if let answerDue, answerDue <= now { return RedisError(.commandTimeout) }
        if answerDue == nil, lastHeard + quietTime <= now {
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
            ears[id]?.unconfirmed = ear.listener.channels
            ears[id]?.hasMissed = ear.hasBeenConfirmed
        }
    }

    func stop(_ error: RedisError, written: Int) {
        mailbox.close()
        _ = takeMessages()
        for id in Array(ears.keys) { end(id, error) }
    }
}

// MARK: - Listeners

extension SubscriptionSession {
    private func add(_ listener: Listener) {
        asked += 1
        ears[listener.id] = Ear(listener: listener, unconfirmed: listener.channels, since: asked)
        waiting.insert(listener.id)
        for channel in listener.channels {
            listenersOf[channel, default: []].insert(listener.id)
            // Asked again also when others listen already: the confirmation is what this caller waits for.
            if isConnected { subscribe(channel) }
        }
    }

    private func remove(_ id: UInt64) {
        guard let ear = ears.removeValue(forKey: id) else { return }
        waiting.remove(id)
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
        send(RedisCommand("SUBSCRIBE", .string(channel)), expecting: .subscribed(channel, number: asked))
    }

    private func send(_ command: RedisCommand, expecting expectation: Expectation) {
        toSend.append(command)
        expected.append(expectation)
        if answerDue == nil { answerDue = .now + replyTimeout }
    }

    private func confirm(_ channel: String, _ number: Int) {
        for id in listenersOf[channel] ?? [] {
            guard let ear = ears[id], ear.since <= number else { continue }
            guard ears[id]?.unconfirmed.remove(channel) != nil, ears[id]?.unconfirmed.isEmpty == true else { continue }
            ears[id]?.hasBeenConfirmed = true
            waiting.remove(id)
            ear.listener.confirmed.fire(.success(()))
            if ear.hasMissed { tell(id, nil) }
        }
    }

    private func refuse(_ channel: String, _ error: RedisError) {
        for id in listenersOf[channel] ?? [] { end(id, error) }
    }

    /// Hands an event over, after the word that something was missed where that is due.
    ///
    /// The last place of a reader's buffer is for that word alone: one that is too slow finds it behind what it could still be
    /// given, however long the channel is silent afterwards.
    private func tell(_ id: UInt64, _ event: RedisSubscription.Event?) {
        guard var ear = ears[id] else { return }
        if ear.hasMissed || ear.room < 2 {
            ear.hasMissed = false
            ear.room = room(after: ear.listener.events.yield(.interrupted))
        }
        if let event, ear.room >= 2 { ear.room = room(after: ear.listener.events.yield(event)) }
        ears[id] = ear
    }

    private func room(after result: AsyncStream<RedisSubscription.Event>.Continuation.YieldResult) -> Int {
        if case .enqueued(let remaining) = result { remaining } else { 0 }
    }
}
