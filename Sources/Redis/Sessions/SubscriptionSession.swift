internal import GannetBase

/// Channels and their listeners, on a connection for subscriptions only.
///
/// The server confirms requests in their order, with messages in between. After a reconnect every channel is subscribed again, and each
/// listener is told that it may have missed messages.
final class SubscriptionSession: Session {
    typealias Instant = ContinuousClock.Instant

    private struct State {
        let listener: Listener
        var unconfirmed: Set<String>
        /// Confirmations of earlier requests are ignored: they belong to listeners that may have left.
        var since: Int
        var hasBeenConfirmed = false
        /// The connection was lost. The listener hears of it before the next event.
        var outlet: EventOutlet
    }

    private enum Expectation {
        case subscribed(String, number: Int)
        case unsubscribed
        case pong
    }

    /// The commands of a session, and the kind of message that it gets.
    struct Words: Sendable {
        let subscribe: String
        let unsubscribe: String
        let message: String

        static let plain = Words(subscribe: "SUBSCRIBE", unsubscribe: "UNSUBSCRIBE", message: "message")
        /// For channels that belong to a slot of a cluster, as keys do.
        static let sharded = Words(subscribe: "SSUBSCRIBE", unsubscribe: "SUNSUBSCRIBE", message: "smessage")
    }

    private let mailbox: Mailbox<SubscriptionMessage>
    private let words: Words
    private let address: RedisAddress
    private let replyTimeout: Duration
    private let quietTime: Duration
    private var arrived: [SubscriptionMessage] = []
    private var released = 0
    private var listeners: [UInt64: State] = [:]
    /// Listeners that are not confirmed yet. Only their deadlines count.
    private var waiting: Set<UInt64> = []
    private var asked = 0
    private var listenersOf: [String: Set<UInt64>] = [:]
    private var expected = Fifo<Expectation>()
    private var toSend: [RedisCommand] = []
    private var isConnected = false
    private var lastHeard: Instant
    private var answerDue: Instant?

    /// - Parameter quietTime: After this time without a message the session sends a PING. Otherwise it would not notice that its peer is gone.
    init(
        _ mailbox: Mailbox<SubscriptionMessage>, address: RedisAddress, replyTimeout: Duration, quietTime: Duration = .seconds(15),
        words: Words = .plain
    ) {
        self.words = words
        self.mailbox = mailbox
        self.address = address
        self.replyTimeout = replyTimeout
        self.quietTime = quietTime
        lastHeard = .now
    }

    var isIdle: Bool { expected.isEmpty }

    var nextDeadline: Instant? {
        let confirmation = waiting.lazy.compactMap { self.listeners[$0]?.listener.deadline }.min()
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
        let parts = (try? reply.asArray()) ?? []
        let kind = parts.count == 3 ? try? parts[0].asString() : nil
        if kind == words.message {
            guard let channel = try? parts[1].asString(), let payload = try? parts[2].asBytes() else { return .unasked }
            for id in listenersOf[channel] ?? [] { tell(id, .message(channel: channel, payload: payload)) }
            return .goOn
        }
        if kind == words.unsubscribe.lowercased(), !isUnsubscribing {
            // The channel's slot has moved to another node.
            if let channel = try? parts[1].asString() { refuse(channel, RedisError(.moved, "the channel's slot moves").at(address)) }
            return .goOn
        }
        guard let expectation = expected.popFirst() else { return .unasked }
        answerDue = expected.isEmpty ? nil : .now + replyTimeout
        if case .subscribed(let channel, let number) = expectation {
            if case .error(let error) = reply { refuse(channel, error) } else { confirm(channel, number) }
        }
        return .goOn
    }

    private var isUnsubscribing: Bool { if case .unsubscribed = expected.first { true } else { false } }

    func expire(now: Instant, whileDisconnectedBecause reason: RedisError?) -> RedisError? {
        var isSilent = false
        for id in waiting {
            guard let state = listeners[id], state.listener.deadline <= now else { continue }
            // Nothing has come since this listener began to wait.
            if lastHeard + replyTimeout <= now { isSilent = true }
            end(id, (reason.map(RedisError.init(unavailableBecause:)) ?? RedisError(.commandTimeout)).at(address))
        }
        guard isConnected else { return nil }
        if isSilent || answerDue.map({ $0 <= now }) == true { return RedisError(.commandTimeout) }
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
        for (id, state) in listeners {
            listeners[id]?.unconfirmed = state.listener.channels
            listeners[id]?.outlet.hasMissed = state.hasBeenConfirmed
        }
    }

    func stop(_ error: RedisError, written: Int) {
        mailbox.close()
        _ = takeMessages()
        for id in Array(listeners.keys) { end(id, error) }
    }
}

// MARK: - Listeners

extension SubscriptionSession {
    private func add(_ listener: Listener) {
        asked += 1
        listeners[listener.id] = State(
            listener: listener, unconfirmed: listener.channels, since: asked, outlet: EventOutlet(listener.events))
        waiting.insert(listener.id)
        for channel in listener.channels {
            listenersOf[channel, default: []].insert(listener.id)
            // Sent also if the channel has other listeners: this caller waits for the confirmation.
            if isConnected { subscribe(channel) }
        }
    }

    private func remove(_ id: UInt64) {
        guard let state = listeners.removeValue(forKey: id) else { return }
        waiting.remove(id)
        for channel in state.listener.channels {
            listenersOf[channel]?.remove(id)
            guard listenersOf[channel]?.isEmpty == true else { continue }
            listenersOf[channel] = nil
            if isConnected { send(RedisCommand(.string(words.unsubscribe), .string(channel)), expecting: .unsubscribed) }
        }
    }

    private func end(_ id: UInt64, _ error: RedisError) {
        guard let state = listeners[id] else { return }
        remove(id)
        state.listener.confirmed.fire(.failure(error))
        state.listener.events.finish()
    }

    private func subscribe(_ channel: String) {
        send(RedisCommand(.string(words.subscribe), .string(channel)), expecting: .subscribed(channel, number: asked))
    }

    private func send(_ command: RedisCommand, expecting expectation: Expectation) {
        toSend.append(command)
        expected.append(expectation)
        if answerDue == nil { answerDue = .now + replyTimeout }
    }

    private func confirm(_ channel: String, _ number: Int) {
        for id in listenersOf[channel] ?? [] {
            guard let state = listeners[id], state.since <= number else { continue }
            guard listeners[id]?.unconfirmed.remove(channel) != nil, listeners[id]?.unconfirmed.isEmpty == true else { continue }
            listeners[id]?.hasBeenConfirmed = true
            waiting.remove(id)
            state.listener.confirmed.fire(.success(()))
            if state.outlet.hasMissed { tell(id, nil) }
        }
    }

    private func refuse(_ channel: String, _ error: RedisError) {
        for id in listenersOf[channel] ?? [] { end(id, error) }
    }

    private func tell(_ id: UInt64, _ event: RedisSubscription.Event?) { listeners[id]?.outlet.tell(event) }
}

/// Where the events of a listener go.
struct EventOutlet {
    private let events: AsyncStream<RedisSubscription.Event>.Continuation
    /// The listener has missed messages, and is told before the next event.
    var hasMissed = false
    /// Free places in the listener's buffer, at least.
    private var room = 2

    init(_ events: AsyncStream<RedisSubscription.Event>.Continuation) { self.events = events }

    /// Passes an event on, after an `interrupted` event where messages were missed.
    ///
    /// The last place of a listener's buffer is kept for that event. So a slow listener finds it behind the last message it got, also if the
    /// channel is silent afterwards.
    mutating func tell(_ event: RedisSubscription.Event?) {
        if hasMissed || room < 2 {
            hasMissed = false
            room = Self.room(after: events.yield(.interrupted))
        }
        if let event, room >= 2 { room = Self.room(after: events.yield(event)) }
    }

    func finish() { events.finish() }

    private static func room(after result: AsyncStream<RedisSubscription.Event>.Continuation.YieldResult) -> Int {
        if case .enqueued(let remaining) = result { remaining } else { 0 }
    }
}

/// A caller that listens to channels.
struct Listener: Sendable {
    let id: UInt64
    let channels: Set<String>
    let events: AsyncStream<RedisSubscription.Event>.Continuation

    /// Fired when the server has confirmed all channels or refused one.
    let confirmed: OneShot<Result<Void, RedisError>>
    let deadline: ContinuousClock.Instant
}

/// A request to the thread of a subscriber.
enum SubscriptionMessage: Sendable {
    case listen(Listener)
    case leave(UInt64)
}
