import GannetTestKit
import RedisClient

@testable import ClusterState

#if canImport(Glibc)
/// A server whose clock stands still unless it is moved, and a listener on all channels. A bench serves one run after another.
final class ModelBench {
    static let namespace = "m"

    let server: RedisServer
    let redis: RedisConnection
    /// The server's clock, ms.
    private(set) var wall: Int
    private let subscriber: RedisSubscriber
    private var messages: RedisSubscription.AsyncIterator
    private var markers = 0

    init(_ options: RedisServer.Options = .init()) async throws {
        var options = options
        options.movableClock = true
        server = try await RedisServer.start(options)
        server.clock.stop()
        let configuration = RedisConfiguration(address: .unix(path: server.socketPath))
        redis = try await RedisConnection.connect(configuration)
        subscriber = try await RedisSubscriber.connect(configuration)
        let cluster = ClusterState(redis, namespace: Self.namespace)
        let workers = (0..<CallMaker.workers).map { cluster.inbox(of: "w\($0)") }
        let callers = (0..<CallMaker.callers).map { cluster.inbox(of: "c\($0)") }
        messages = try await subscriber.subscribe(to: Set(workers + callers + ["marker"])).makeAsyncIterator()
        let time = try await redis.send(RedisCommand("TIME")).asArray()
        wall =
            Int(String(decoding: try time[0].asBytes(), as: UTF8.self))! * 1000
            + Int(String(decoding: try time[1].asBytes(), as: UTF8.self))! / 1000
    }

    func close() async throws {
        await redis.close()
        await subscriber.close()
        try await server.stop()
    }

    func advance(_ ms: Int) {
        server.clock.advance(by: .milliseconds(ms))
        wall += ms
    }

    /// Kills the server and starts it again. Returns when all connections are there again.
    func crash() async throws {
        try await server.kill9()
        try await server.restart()
        while let event = await messages.next(), event != .interrupted {}
        // A call before the loss is noticed fails with that loss.
        try await eventually("Redis answers after its crash") {
            guard case .failure(let error) = await redis.pipeline([RedisCommand("PING")])[0] else { return true }
            guard error.kind == .connectionLost else { throw error }
            return false
        }
    }

    func look(now: Int) async throws -> StateLook {
        try await StateLook.take(redis, namespace: Self.namespace, now: now)
    }

    /// The messages that were published since the last time.
    func heard() async throws -> Set<Heard> {
        markers += 1
        try await redis.send(RedisCommand("PUBLISH", "marker", .integer(markers)))
        var heard: Set<Heard> = []
        while let event = await messages.next() {
            guard case .message(let channel, let payload) = event else { throw Violation(description: "the listener lost its connection") }
            if channel == "marker" {
                if payload == Array("\(markers)".utf8) { break }
                continue
            }
            let name = channel.split(separator: ":").last!
            let number = Int(name.dropFirst())! + (name.first == "c" ? 100 : 0)
            let what = payload.first == UInt8(ascii: "u") ? "u\(payload[8])" : String(decoding: payload, as: UTF8.self)
            heard.insert(Heard(channel: number, what: what))
        }
        return heard
    }
}
#endif
