import GannetQueue
import GannetRedisClient
import Testing

@testable import GannetRedis

@Suite struct OutageBreakerTests {
    private let breaker = OutageBreaker()

    @Test(arguments: [RedisError.Kind.unreachable, .commandTimeout, .connectionLost, .clusterDown])
    func `after a failure no call is made for a second, and then one caller at a time tries`(kind: RedisError.Kind) {
        #expect(breaker.mayTry())
        breaker.note(StateError.redis(RedisError(kind)))
        let noted = ContinuousClock.now
        #expect(!breaker.mayTry(at: noted))
        #expect(breaker.mayTry(at: noted + .seconds(1)))
        #expect(!breaker.mayTry(at: noted + .seconds(1)))
        breaker.succeeded()
        #expect(breaker.mayTry(at: noted + .seconds(1)))
    }

    @Test(arguments: [RedisError.Kind.outOfMemory, .notPermitted, .wrongType])
    func `a Redis that answers is not away, also where it is full`(kind: RedisError.Kind) {
        breaker.note(StateError.redis(RedisError(kind)))
        breaker.note(CancellationError())
        #expect(breaker.mayTry())
    }

    @Test func `the time without calls doubles with each failure, up to half a minute, and a success ends it`() {
        var now = ContinuousClock.now
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            breaker.failed(at: now)
            #expect(!breaker.mayTry(at: now + .seconds(seconds) - .milliseconds(1)))
            now += .seconds(seconds)
            #expect(breaker.mayTry(at: now))
        }
        breaker.succeeded()
        breaker.failed(at: now)
        #expect(breaker.mayTry(at: now + .seconds(1)))
    }
}
