import Synchronization
import Testing

@testable import GannetRedisClient

/// The session's thread is the test: nothing moves unless it is told to.
@Suite(.timeLimit(.minutes(3))) struct CommandSessionTests {
    private static let address = RedisAddress.unix(path: "/none")
    private let start = ContinuousClock.now

    /// A session, its mailbox, and the bytes it has put out.
    private final class Rig {
        let mailbox: Mailbox<Request>
        let session: CommandSession
        var output = OutputQueue()

        init(capacity: Int = 1 << 20, noteSilence: (@Sendable (Bool) -> Void)? = nil) {
            mailbox = try! Mailbox(capacity: capacity)
            session = CommandSession(mailbox, address: CommandSessionTests.address, noteSilence: noteSilence)
        }

        /// Posts a request whose outcome arrives in the returned task.
        func post(
            _ payload: Request.Payload, deadline: ContinuousClock.Instant = .now + .seconds(60)
        ) async -> (Request, Task<Outcome, Never>) {
            let request = Request(payload, deadline: deadline)
            let mailbox = mailbox
            let posted = OneShot<Void>()
            let task = Task { () -> Outcome in
                let answer = await withUnsafeContinuation { continuation in
                    _ = request.begin(continuation)
                    if mailbox.post(request, weight: request.weight) != .accepted { request.fail(RedisError(.backlogFull)) }
                    posted.fire(())
                }
                return switch answer {
                case .one(let result): [result]
                case .many(let results): results
                }
            }
            await posted.value
            return (request, task)
        }

        /// Moves what was posted to the output and writes `limit` bytes of it.
        func write(_ limit: Int = .max) {
            _ = session.takeMessages()
            session.collect(into: &output)
            var left = limit
            _ = output.drain { bytes in
                let count = min(left, bytes.count)
                left -= count
                return count == 0 ? .needsWrite : .bytes(count)
            }
        }

        func receive(_ reply: RedisReply) -> SessionVerdict { session.receive(reply, output: &output) }

        func lose() {
            session.lost(RedisError(.connectionLost), written: output.written)
            output.reset()
        }
    }

    typealias Outcome = [Result<RedisReply, RedisError>]
    private let ping = Request.Payload.one(RedisCommand("PING"))

    @Test func `replies go to the commands in order, in a pipeline too`() async {
        let rig = Rig()
        let (_, first) = await rig.post(ping)
        let (_, many) = await rig.post(.many([RedisCommand("A"), RedisCommand("B")]))
        let (_, last) = await rig.post(ping)
        rig.write()
        for number in 0..<4 {
            guard case .goOn = rig.receive(number == 2 ? .error(RedisError(.wrongType)) : .integer(number)) else {
                return #expect(Bool(false))
            }
        }
        #expect(await first.value == [.success(.integer(0))])
        #expect(await many.value == [.success(.integer(1)), .failure(RedisError(.wrongType))])
        #expect(await last.value == [.success(.integer(3))])
        #expect(rig.session.isIdle)
        guard case .unasked = rig.receive(.null) else { return #expect(Bool(false)) }
    }

    @Test func `a script that the server forgot is sent again behind the other commands, and answered in its place`() async {
        let script = RedisScript("return 1")
        let rig = Rig()
        let call = RedisCommand(script: script, keys: [])
        let (_, many) = await rig.post(.many([RedisCommand("A"), call, RedisCommand("B")]))
        let (_, other) = await rig.post(ping)
        rig.write()
        let before = rig.output.appended
        _ = rig.receive(.integer(0))
        _ = rig.receive(.error(RedisError(.noScript)))
        #expect(rig.output.appended > before)
        rig.write()
        _ = rig.receive(.integer(2))
        _ = rig.receive(.integer(3))
        #expect(await other.value == [.success(.integer(3))])
        _ = rig.receive(.integer(1))
        #expect(await many.value == [.success(.integer(0)), .success(.integer(1)), .success(.integer(2))])
    }

    @Test func `a script source that is refused as unknown is not sent again and again`() async {
        let rig = Rig()
        let (_, call) = await rig.post(.one(RedisCommand(script: RedisScript("return 1"), keys: [])))
        rig.write()
        _ = rig.receive(.error(RedisError(.noScript)))
        rig.write()
        _ = rig.receive(.error(RedisError(.noScript)))
        #expect(await call.value == [.failure(RedisError(.noScript))])
        #expect(rig.session.isIdle)
    }

    @Test func `after a loss written commands fail, and unwritten ones are sent again in order`() async {
        let rig = Rig()
        let (_, answered) = await rig.post(ping)
        let (_, written) = await rig.post(ping)
        let (_, begun) = await rig.post(ping)
        let (_, framed) = await rig.post(.one(RedisCommand("FRAMED")))
        rig.write(14 + 14 + 3)
        let (_, waiting) = await rig.post(.one(RedisCommand("WAITING")))
        _ = rig.receive(.status("PONG"))
        rig.lose()
        #expect(await answered.value == [.success(.status("PONG"))])
        #expect(await written.value == [.failure(RedisError(.connectionLost, mayHaveExecuted: true))])
        #expect(await begun.value == [.failure(RedisError(.connectionLost, mayHaveExecuted: true))])
        rig.write()
        _ = rig.receive(.integer(1))
        _ = rig.receive(.integer(2))
        #expect(await framed.value == [.success(.integer(1))])
        #expect(await waiting.value == [.success(.integer(2))])
    }

    @Test func `a lost pipeline keeps the replies it has`() async {
        let rig = Rig()
        let (_, many) = await rig.post(.many([RedisCommand("A"), RedisCommand("B")]))
        rig.write()
        _ = rig.receive(.integer(1))
        rig.lose()
        #expect(await many.value == [.success(.integer(1)), .failure(RedisError(.connectionLost, mayHaveExecuted: true))])
    }

    @Test func `an unwritten second attempt at a script follows on the next connection`() async {
        let rig = Rig()
        let (_, call) = await rig.post(.one(RedisCommand(script: RedisScript("return 1"), keys: [])))
        rig.write()
        _ = rig.receive(.error(RedisError(.noScript)))
        rig.lose()
        rig.write()
        _ = rig.receive(.integer(1))
        #expect(await call.value == [.success(.integer(1))])
    }

    @Test func `a command that is cancelled before it is encoded is never sent`() async {
        let rig = Rig()
        let (early, first) = await rig.post(ping)
        early.cancel(at: Self.address)
        rig.write()
        #expect(rig.output.appended == 0)
        #expect(await first.value == [.failure(RedisError(.cancelled).at(Self.address))])
        let (late, second) = await rig.post(ping)
        let (_, third) = await rig.post(ping)
        rig.write()
        late.cancel(at: Self.address)
        #expect(await second.value == [.failure(RedisError(.cancelled, mayHaveExecuted: true).at(Self.address))])
        _ = rig.receive(.integer(2))
        _ = rig.receive(.integer(3))
        #expect(await third.value == [.success(.integer(3))])
    }

    @Test func `unsent commands expire with the reason of the last failure, and release their weight`() async {
        let rig = Rig(capacity: 4)
        let reason = RedisError(.unreachable, "Connection refused", server: "redis://there:1")
        for _ in 0..<10 {
            let (_, command) = await rig.post(ping, deadline: start + .seconds(1))
            _ = rig.session.takeMessages()
            #expect(rig.session.nextDeadline == start + .seconds(1))
            #expect(rig.session.expire(now: start + .milliseconds(999), whileDisconnectedBecause: reason) == nil)
            #expect(rig.session.expire(now: start + .seconds(1), whileDisconnectedBecause: reason) == nil)
            guard case .failure(let error)? = await command.value.first else { return #expect(Bool(false)) }
            #expect(error.kind == .unavailable)
            #expect(error.description.contains("Connection refused"))
            #expect(!error.mayHaveExecuted)
            _ = rig.session.takeMessages()
        }
        #expect(rig.session.nextDeadline == nil)
        rig.write()
        #expect(rig.output.appended == 0)
    }

    @Test func `a cancelled command in the queue releases its weight when others expire`() async {
        let rig = Rig(capacity: 8)
        let (cancelled, first) = await rig.post(ping, deadline: start + .seconds(100))
        let (_, second) = await rig.post(ping, deadline: start + .seconds(1))
        _ = rig.session.takeMessages()
        cancelled.cancel(at: Self.address)
        _ = rig.session.expire(now: start + .seconds(1), whileDisconnectedBecause: RedisError(.unreachable))
        _ = rig.session.takeMessages()
        _ = (await first.value, await second.value)
        let request = Request(.one(RedisCommand("PINGPING")), deadline: start)
        #expect(rig.mailbox.post(request, weight: request.weight) == .accepted)
        #expect(rig.mailbox.post(request, weight: 1) == .full)
    }

    @Test func `the first pending command stalls the connection at its deadline, a later one only fails`() async {
        let rig = Rig()
        let (_, patient) = await rig.post(ping, deadline: start + .seconds(100))
        let (_, hasty) = await rig.post(ping, deadline: start + .seconds(1))
        rig.write()
        #expect(rig.session.expire(now: start + .seconds(1), whileDisconnectedBecause: nil) == nil)
        guard case .failure(let error)? = await hasty.value.first else { return #expect(Bool(false)) }
        #expect(error.kind == .commandTimeout && error.mayHaveExecuted && !error.server.isEmpty)
        #expect(rig.session.nextDeadline == start + .seconds(100))
        #expect(rig.session.expire(now: start + .seconds(100), whileDisconnectedBecause: nil)?.kind == .commandTimeout)
        rig.lose()
        guard case .failure? = await patient.value.first else { return #expect(Bool(false)) }
    }

    @Test func `a server is silent where commands wait and no reply comes between two looks, and until it answers`() async {
        let told = Mutex<[Bool]>([])
        let rig = Rig(noteSilence: { isSilent in told.withLock { $0.append(isSilent) } })
        func look(_ looks: Int) -> [Bool] {
            _ = rig.session.expire(now: start + CommandSession.silence * looks, whileDisconnectedBecause: nil)
            return told.withLock { $0 }
        }
        #expect(look(0) == [] && rig.session.nextDeadline == nil)
        let (_, first) = await rig.post(ping, deadline: start + .seconds(100))
        let (_, second) = await rig.post(ping, deadline: start + .seconds(100))
        rig.write()
        #expect(look(0) == [] && rig.session.nextDeadline == start + CommandSession.silence)
        _ = rig.receive(.integer(1))
        #expect(look(1) == [])
        #expect(look(2) == [true])
        #expect(look(3) == [true, true])
        _ = rig.receive(.integer(2))
        // Nothing waits any more, so there is no further look.
        #expect(look(4) == [true, true, false])
        #expect(look(5) == [true, true, false])
        _ = (await first.value, await second.value)
    }

    @Test func `a close fails all commands, and says which may have been executed`() async {
        let rig = Rig()
        let (_, written) = await rig.post(ping)
        let (_, framed) = await rig.post(ping)
        rig.write(14)
        let (_, waiting) = await rig.post(ping)
        rig.session.stop(RedisError(.closed), written: rig.output.written)
        #expect(await written.value == [.failure(RedisError(.closed, mayHaveExecuted: true))])
        #expect(await framed.value == [.failure(RedisError(.closed))])
        #expect(await waiting.value == [.failure(RedisError(.closed))])
        #expect(rig.mailbox.post(Request(ping, deadline: start), weight: 1) == .closed)
    }

    @Test func `little more is encoded than the socket takes`() async {
        let rig = Rig(capacity: 100 << 20)
        for _ in 0..<100 {
            _ = await rig.post(.one(RedisCommand("SET", "key", .bytes([UInt8](repeating: 1, count: 100_000)))))
        }
        rig.write(0)
        #expect(rig.output.pendingBytes < 500_000)
        rig.session.stop(RedisError(.closed), written: 0)
    }
}
