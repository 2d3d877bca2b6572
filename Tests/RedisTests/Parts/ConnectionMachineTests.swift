import GannetBase
import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct ConnectionMachineTests {
    private let start = ContinuousClock.now
    private let first = SocketAddress(unixPath: "/first")!
    private let second = SocketAddress(unixPath: "/second")!
    private let third = SocketAddress(unixPath: "/third")!
    private let broken = RedisError(.unreachable, "broken")

    private func machine() -> ConnectionMachine {
        var configuration = RedisConfiguration(address: .unix(path: "/none"))
        configuration.connectTimeout = .seconds(6)
        configuration.commandTimeout = .seconds(10)
        configuration.shortestBackoff = .milliseconds(100)
        configuration.longestBackoff = .seconds(1)
        return ConnectionMachine(configuration, random: SeededBytes(seed: 1))
    }

    private func serving() -> ConnectionMachine {
        var machine = machine()
        _ = machine.start(now: start)
        _ = machine.found([first], now: start)
        _ = machine.opened()
        _ = machine.prepared()
        _ = machine.greeted(now: start)
        return machine
    }

    @Test func `the states up to an established connection`() {
        var machine = machine()
        #expect(machine.state == .idle)
        #expect(machine.start(now: start) == .lookUp)
        #expect(machine.nextDeadline == start + .seconds(6))
        #expect(machine.found([first], now: start) == .open(first))
        #expect(machine.opened() == .prepare)
        #expect(machine.prepared() == .greet)
        #expect(machine.nextDeadline == start + .seconds(6))
        #expect(machine.greeted(now: start) == .serve)
        #expect(machine.isServing)
        #expect(machine.nextDeadline == nil)
        #expect(machine.tick(now: start + .seconds(1000)) == nil)
    }

    @Test func `an input at the wrong moment changes nothing`() {
        var fresh = machine()
        #expect(fresh.found([first], now: start) == nil)
        #expect(fresh.openFailed(broken, now: start) == nil)
        #expect(fresh.opened() == nil)
        #expect(fresh.prepared() == nil)
        #expect(fresh.greeted(now: start) == nil)
        #expect(fresh.becameReadOnly(now: start) == nil)
        #expect(fresh.drained(now: start) == nil)
        #expect(fresh.state == .idle)
        var standing = serving()
        #expect(standing.found([second], now: start) == nil)
        #expect(standing.greeted(now: start) == nil)
        #expect(standing.isServing)
    }

    @Test func `each address is tried in turn and the last failure is the one reported`() {
        var machine = machine()
        _ = machine.start(now: start)
        #expect(machine.found([first, second], now: start) == .open(first))
        #expect(machine.openFailed(RedisError(.unreachable, "one"), now: start) == .open(second))
        #expect(machine.openFailed(broken, now: start) == .stop(broken))
        #expect(machine.isOver)
    }

    @Test func `a silent address leaves the others their share of the time`() {
        var machine = machine()
        _ = machine.start(now: start)
        _ = machine.found([first, second, third], now: start)
        #expect(machine.nextDeadline == start + .seconds(2))
        #expect(machine.tick(now: start + .seconds(1)) == nil)
        #expect(machine.tick(now: start + .seconds(2)) == .open(second))
        #expect(machine.nextDeadline == start + .seconds(4))
        #expect(machine.openFailed(broken, now: start + .seconds(3)) == .open(third))
        #expect(machine.nextDeadline == start + .seconds(6))
        guard case .stop(let error) = machine.tick(now: start + .seconds(6)) else { return #expect(Bool(false)) }
        #expect(error.kind == .connectTimeout)
    }

    @Test func `a name without addresses is not resolvable`() {
        var machine = machine()
        _ = machine.start(now: start)
        guard case .stop(let error) = machine.found([], now: start) else { return #expect(Bool(false)) }
        #expect(error.kind == .unresolvable)
    }

    @Test(arguments: [(0, "looking up"), (1, "connecting"), (2, "TLS"), (3, "greeting")])
    func `an attempt that takes too long says in which phase`(steps: Int, phase: String) {
        var machine = machine()
        _ = machine.start(now: start)
        if steps > 0 { _ = machine.found([first], now: start) }
        if steps > 1 { _ = machine.opened() }
        if steps > 2 { _ = machine.prepared() }
        #expect(machine.tick(now: start + .milliseconds(5999)) == nil)
        guard case .stop(let error) = machine.tick(now: start + .seconds(6)) else { return #expect(Bool(false)) }
        #expect(error.kind == .connectTimeout)
        #expect(error.detail.contains(phase))
    }

    @Test func `a lost connection is restored after a pause, with a new lookup`() {
        var machine = serving()
        #expect(machine.failed(broken, now: start) == .drop(broken))
        guard case .pausing(let until) = machine.state else { return #expect(Bool(false)) }
        #expect(until >= start && until <= start + .milliseconds(100))
        #expect(machine.nextDeadline == until)
        #expect(machine.tick(now: until - .nanoseconds(1)) == nil)
        #expect(machine.tick(now: until) == .lookUp)
        #expect(machine.found([second], now: until) == .open(second))
        // Once it has served, no failure ends it.
        #expect(machine.openFailed(broken, now: until) == .drop(broken))
    }

    @Test func `pauses grow while connections break early, and start small after a lasting one`() {
        func longestPause(after losses: Int, lasting: Duration) -> Duration {
            var longest = Duration.zero
            var machine = serving()
            var now = start
            for _ in 0..<losses {
                now = now + lasting
                _ = machine.failed(broken, now: now)
                guard case .pausing(let until) = machine.state else { continue }
                longest = max(longest, until - now)
                now = until
                _ = machine.tick(now: now)
                _ = machine.found([first], now: now)
                _ = machine.opened()
                _ = machine.prepared()
                _ = machine.greeted(now: now)
            }
            return longest
        }
        #expect(longestPause(after: 50, lasting: .seconds(6)) <= .milliseconds(100))
        #expect(longestPause(after: 50, lasting: .seconds(1)) > .milliseconds(500))
        #expect(longestPause(after: 50, lasting: .seconds(1)) <= .seconds(1))
    }

    @Test func `a server that closes connections in its greeting is tried three times before it has served, with pauses`() {
        var machine = machine()
        var now = start
        func greet() {
            _ = machine.found([first], now: now)
            _ = machine.opened()
            _ = machine.prepared()
        }
        _ = machine.start(now: now)
        for _ in 0..<2 {
            greet()
            guard case .drop = machine.closedInGreeting(answered: false, mayLackTLS: true, now: now),
                case .pausing(let until) = machine.state
            else { return #expect(Bool(false)) }
            now = until
            #expect(machine.tick(now: now) == .lookUp)
        }
        greet()
        guard case .stop(let error) = machine.closedInGreeting(answered: false, mayLackTLS: true, now: now) else {
            return #expect(Bool(false))
        }
        #expect(error.kind == .unreachable && error.detail.contains("rediss://"))
    }

    @Test func `a server that became read-only is left after the last reply, or after a timeout`() {
        var machine = serving()
        #expect(machine.becameReadOnly(now: start) == .drain)
        #expect(machine.becameReadOnly(now: start) == nil)
        var slow = machine
        #expect(machine.drained(now: start) == .drop(RedisError(.readOnly)))
        #expect(machine.drained(now: start) == nil)
        #expect(slow.tick(now: start + .seconds(9)) == nil)
        #expect(slow.tick(now: start + .seconds(10)) == .drop(RedisError(.readOnly)))
    }

    @Test func `a server whose successor is known is left at once, and its successor looked for also by a first attempt`() {
        var standing = serving()
        let error = RedisError(.connectionLost, "the Sentinels name another primary now")
        #expect(standing.hasSuccessor(now: start) == .drop(error))
        #expect(standing.hasSuccessor(now: start) == nil)
        var fresh = machine()
        #expect(fresh.hasSuccessor(now: start) == nil)
        _ = fresh.start(now: start)
        #expect(fresh.hasSuccessor(now: start) == nil)
        _ = fresh.found([first], now: start)
        #expect(fresh.hasSuccessor(now: start) == .drop(error))
        #expect(fresh.tick(now: start + .seconds(9)) == .lookUp)
    }

    @Test func `a closed connection stays closed`() {
        var machine = serving()
        #expect(machine.close() == .stop(RedisError(.closed)))
        #expect(machine.isOver)
        #expect(machine.nextDeadline == nil)
        #expect(machine.tick(now: start + .seconds(100)) == nil)
        #expect(machine.failed(broken, now: start) == .stop(broken))
    }
}
