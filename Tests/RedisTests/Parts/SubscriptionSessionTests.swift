import Testing

@testable import GannetRedisClient

/// The session's thread is the test: nothing moves unless it is told to.
@Suite(.timeLimit(.minutes(3))) struct SubscriptionSessionTests {
    private static let address = RedisAddress.unix(path: "/none")

    private final class Rig {
        let mailbox: Mailbox<SubscriptionMessage>
        let session: SubscriptionSession
        var output = OutputQueue()
        private var lastID: UInt64 = 0

        init(capacity: Int = 100, quietTime: Duration = .seconds(15)) {
            mailbox = try! Mailbox(capacity: capacity)
            session = SubscriptionSession(
                mailbox, address: SubscriptionSessionTests.address, replyTimeout: .seconds(10), quietTime: quietTime)
        }

        typealias Events = AsyncStream<RedisSubscription.Event>

        func listen(
            _ channels: Set<String>, room: Int = 100, deadline: ContinuousClock.Instant = .now + .seconds(60)
        )
            -> (id: UInt64, events: Events, confirmed: OneShot<Result<Void, RedisError>>)
        {
            lastID += 1
            let (events, continuation) = Events.makeStream(bufferingPolicy: .bufferingOldest(room))
            let confirmed = OneShot<Result<Void, RedisError>>()
            let listener = Listener(id: lastID, channels: channels, events: continuation, confirmed: confirmed, deadline: deadline)
            #expect(mailbox.post(.listen(listener), weight: 1) == .accepted)
            _ = session.takeMessages()
            return (lastID, events, confirmed)
        }

        func leave(_ id: UInt64) {
            _ = mailbox.post(.leave(id), weight: 0)
            _ = session.takeMessages()
        }

        /// The words of the commands that were sent since the last call.
        func sent() -> [String] {
            session.collect(into: &output)
            var text = ""
            _ = output.drain { bytes in
                text += String(decoding: bytes, as: UTF8.self)
                return .bytes(bytes.count)
            }
            return text.split(separator: "*").map {
                $0.split(separator: "\r\n").dropFirst().filter { !$0.hasPrefix("$") }.joined(separator: " ")
            }
        }

        @discardableResult
        func receive(_ words: RedisReply...) -> SessionVerdict { session.receive(.array(words), output: &output) }

        func confirm(_ channel: String) { receive("subscribe", .bytes(Array(channel.utf8)), .integer(1)) }
        func message(_ channel: String, _ text: String) {
            receive("message", .bytes(Array(channel.utf8)), .bytes(Array(text.utf8)))
        }
    }

    private func state(_ confirmed: OneShot<Result<Void, RedisError>>) async -> RedisError?? {
        // Fires only if nothing has yet: the marker then says so.
        confirmed.fire(.failure(RedisError(.other, "pending")))
        switch await confirmed.value {
        case .success: return .some(nil)
        case .failure(let error): return error.detail == "pending" ? nil : .some(error)
        }
    }

    private func taken(_ events: Rig.Events, _ count: Int) async -> [RedisSubscription.Event] {
        var taken: [RedisSubscription.Event] = []
        for await event in events.prefix(count) { taken.append(event) }
        return taken
    }

    private func message(_ text: String) -> RedisSubscription.Event { .message(channel: "a", payload: Array(text.utf8)) }

    @Test func `messages go to the listeners of their channel`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let one = rig.listen(["a"])
        let both = rig.listen(["a", "b"])
        #expect(rig.sent().sorted() == ["SUBSCRIBE a", "SUBSCRIBE a", "SUBSCRIBE b"])
        rig.confirm("a")
        rig.confirm("a")
        rig.message("a", "1")
        rig.confirm("b")
        rig.message("b", "2")
        rig.message("c", "3")
        #expect(await state(both.confirmed) == .some(nil))
        #expect(await taken(one.events, 1) == [message("1")])
        #expect(await taken(both.events, 2) == [message("1"), .message(channel: "b", payload: [50])])
        #expect(rig.session.isIdle)
    }

    @Test func `a confirmation for an earlier listener does not confirm a later one`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let first = rig.listen(["a"])
        rig.leave(first.id)
        let second = rig.listen(["a"])
        #expect(rig.sent() == ["SUBSCRIBE a", "UNSUBSCRIBE a", "SUBSCRIBE a"])
        rig.confirm("a")
        // The server is about to unsubscribe: what is published now does not arrive.
        #expect(await state(second.confirmed) == nil)
    }

    @Test func `the last to leave a channel unsubscribes from it`() {
        let rig = Rig()
        rig.session.began(now: .now)
        let one = rig.listen(["a"])
        let two = rig.listen(["a"])
        _ = rig.sent()
        rig.leave(one.id)
        #expect(rig.sent() == [])
        rig.leave(two.id)
        #expect(rig.sent() == ["UNSUBSCRIBE a"])
    }

    @Test func `after a loss every channel is subscribed again and its listeners are told`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let ear = rig.listen(["a"])
        _ = rig.sent()
        rig.confirm("a")
        rig.message("a", "1")
        rig.session.lost(RedisError(.connectionLost), written: rig.output.written)
        #expect(rig.session.nextDeadline == nil)
        rig.session.began(now: .now)
        #expect(rig.sent() == ["SUBSCRIBE a"])
        rig.confirm("a")
        rig.message("a", "2")
        #expect(await taken(ear.events, 3) == [message("1"), .interrupted, message("2")])
    }

    @Test func `a slow reader gets the messages it had room for and then an interruption`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let ear = rig.listen(["a"], room: 4)
        rig.confirm("a")
        for number in 1...10 { rig.message("a", "\(number)") }
        #expect(await taken(ear.events, 4) == [message("1"), message("2"), message("3"), .interrupted])
        rig.message("a", "11")
        let next = await taken(ear.events, 2)
        #expect(next == [.interrupted, message("11")] || next.first == message("11"))
    }

    @Test func `a refused channel ends its listener with the reason, and no other`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let good = rig.listen(["a"])
        let bad = rig.listen(["b"])
        rig.confirm("a")
        _ = rig.session.receive(.error(RedisError(.notPermitted)), output: &rig.output)
        #expect(await state(bad.confirmed) == RedisError(.notPermitted))
        #expect(await state(good.confirmed) == .some(nil))
        #expect(await taken(bad.events, 1) == [])
    }

    @Test func `a quiet connection is checked with PING, and closed without an answer`() {
        let rig = Rig(quietTime: .seconds(15))
        let start = ContinuousClock.now
        rig.session.began(now: start)
        #expect(rig.session.nextDeadline == start + .seconds(15))
        #expect(rig.session.expire(now: start + .seconds(14), whileDisconnectedBecause: nil) == nil)
        #expect(rig.sent() == [])
        #expect(rig.session.expire(now: start + .seconds(15), whileDisconnectedBecause: nil) == nil)
        #expect(rig.sent() == ["PING"])
        #expect(!rig.session.isIdle)
        #expect(rig.session.expire(now: start + .seconds(5), whileDisconnectedBecause: nil) == nil)
        #expect(rig.session.expire(now: start + .seconds(60), whileDisconnectedBecause: nil)?.kind == .commandTimeout)
    }

    @Test func `both forms of an answer to PING count`() {
        for reply in [RedisReply.array(["pong", ""]), .status("PONG")] {
            let rig = Rig(quietTime: .zero)
            rig.session.began(now: .now)
            _ = rig.session.expire(now: .now, whileDisconnectedBecause: nil)
            #expect(rig.sent() == ["PING"])
            guard case .goOn = rig.session.receive(reply, output: &rig.output) else { return #expect(Bool(false)) }
            #expect(rig.session.isIdle)
        }
    }

    @Test func `a reply to no command ends the connection`() {
        let rig = Rig()
        rig.session.began(now: .now)
        guard case .unasked = rig.receive("subscribe", "a", 1) else { return #expect(Bool(false)) }
        guard case .unasked = rig.receive("message", "a", .integer(1)) else { return #expect(Bool(false)) }
    }

    @Test func `an unconfirmed listener expires with the reason`() async {
        let rig = Rig()
        let end = ContinuousClock.now + .seconds(1)
        let ear = rig.listen(["a"], deadline: end)
        #expect(rig.session.nextDeadline == end)
        _ = rig.session.expire(now: end, whileDisconnectedBecause: RedisError(.unreachable, "Connection refused"))
        guard case .failure(let error) = await ear.confirmed.value else { return #expect(Bool(false)) }
        #expect(error.kind == .unavailable && error.description.contains("Connection refused"))
        #expect(rig.session.nextDeadline == nil)
    }

    @Test func `listeners that come and go never use up the inbox`() {
        let rig = Rig(capacity: 2)
        for _ in 0..<10 {
            let ear = rig.listen(["a"])
            rig.leave(ear.id)
        }
    }

    @Test func `a close ends every listener`() async {
        let rig = Rig()
        rig.session.began(now: .now)
        let ear = rig.listen(["a"])
        rig.session.stop(RedisError(.closed), written: 0)
        #expect(await state(ear.confirmed) == RedisError(.closed))
        #expect(await taken(ear.events, 1) == [])
    }
}

extension RedisReply: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .bytes(Array(value.utf8)) }
    public init(integerLiteral value: Int) { self = .integer(value) }
}
