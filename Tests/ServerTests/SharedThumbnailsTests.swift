import Foundation
import GannetHTTP
import GannetPictures
import GannetRedisClient
import GannetTestKit
import Results
import Testing

@testable import GannetQueue
@testable import Server

/// Thumbnails that requests share, with the real program and a real Redis.
@Suite(.timeLimit(.minutes(3)), .enabled(if: MachineNeed.canMakeThumbnails))
struct SharedThumbnailsTests {
    private let picture = MadePicture.png(300, 200)
    private let request = ThumbnailRequest(width: 100, height: 100, fit: .contain, format: .webp)

    private func shared(_ redis: RedisServer) async throws -> (SharedThumbnails, ThumbnailPool, BlobStore) {
        let pool = ThumbnailPool(ThumbnailProgram(named: program, beside: ""))
        let connection = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: redis.socketPath)))
        let cluster = ClusterState(connection, namespace: "test", partitions: 1)
        return (SharedThumbnails(pool, cluster, limit: 10_000_000, BodyRoom(limit: .max)), pool, BlobStore(cluster))
    }

    private func ask(_ shared: SharedThumbnails, isKept: Bool = true) async throws -> SharedThumbnails.Found {
        try await shared.thumbnail(request, of: picture, digest: SHA256Digest(of: picture), isKept: isKept).get()
    }

    @Test func `simultaneous requests share one making`() async throws {
        let redis = try await RedisServer.start()
        let (shared, pool, _) = try await shared(redis)
        let found = try await withThrowingTaskGroup(of: SharedThumbnails.Found.self) { group in
            for _ in 0..<50 { group.addTask { try await ask(shared) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.count == 50 && Set(found.map(\.thumbnail)).count == 1)
        #expect(pool.made == 1)
        pool.close()
        try await redis.stop()
    }

    @Test func `a kept thumbnail is found, and a damaged thumbnail is made again`() async throws {
        let redis = try await RedisServer.start()
        let (shared, pool, store) = try await shared(redis)
        #expect(try await ask(shared, isKept: false).wasKept == false)
        #expect(try await store.usage().blobs == 0)
        #expect(try await ask(shared).wasKept == false)
        #expect(try await store.usage().blobs == 1)
        #expect(try await ask(shared).wasKept)
        #expect(pool.made == 2)
        let key = SharedThumbnails.key(request, SHA256Digest(of: picture))
        #expect(try await store.remove(digest: key))
        _ = try await store.put(digest: key, bytes: [UInt8](repeating: 7, count: 100), limit: 10_000_000)
        #expect(try await ask(shared).wasKept == false)
        #expect(pool.made == 3)
        pool.close()
        try await redis.stop()
    }
}

private let program = Program.built("gannet-thumbnail")
