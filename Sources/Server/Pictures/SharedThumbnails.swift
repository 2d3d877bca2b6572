internal import GannetBase
internal import GannetHTTP
internal import GannetPictures
internal import GannetQueue
internal import Results

/// Thumbnails that the whole fleet makes once: they are kept in the body store, by the digest of the picture and the wanted size and format.
/// Simultaneous requests of this process share one making.
final class SharedThumbnails: Sendable {
    /// A thumbnail, and whether an earlier request had made it.
    struct Found: Sendable {
        let thumbnail: Thumbnail
        let wasKept: Bool
    }

    private typealias Making = Task<Result<Found, ThumbnailFailure>, Never>

    private let pool: ThumbnailPool
    private let cluster: ClusterState
    private let store: BlobStore
    /// Bytes of Redis' memory for bodies.
    private let limit: Int
    private let room: BodyRoom
    private let makings = Mutex<[[UInt8]: Making]>([:])

    /// For how long Redis is asked. Without an answer the thumbnail is made.
    private static let patience = Duration.seconds(2)

    init(_ pool: ThumbnailPool, _ cluster: ClusterState, limit: Int, _ room: BodyRoom) {
        self.room = room
        self.pool = pool
        self.cluster = cluster
        store = BlobStore(cluster)
        self.limit = limit
    }

    /// A making goes on when its clients leave. It takes a bounded time, and the next client gets its thumbnail.
    /// - Parameters:
    ///   - digest: Of the picture.
    ///   - isKept: Whether the picture may be kept, and so its thumbnail.
    func thumbnail(
        _ request: ThumbnailRequest, of picture: [UInt8], digest: SHA256Digest, isKept: Bool
    ) async -> Result<Found, ThumbnailFailure> {
        let key = Self.key(request, digest)
        let making = makings.withLock { makings in
            if let running = makings[key] { return running }
            let making = Making {
                let result = await self.make(request, of: picture, key: key, isKept: isKept)
                self.makings.withLock { $0[key] = nil }
                return result
            }
            makings[key] = making
            return making
        }
        return await making.value
    }

    private func make(
        _ request: ThumbnailRequest, of picture: [UInt8], key: [UInt8], isKept: Bool
    ) async -> Result<Found, ThumbnailFailure> {
        guard let claim = room.claim(picture) else {
            return .failure(ThumbnailFailure(.busy, "This server holds as many bytes of bodies as it may. Ask again later."))
        }
        defer { withExtendedLifetime(claim) {} }
        // Without Redis thumbnails are made all the same.
        var isAnswering = isKept
        if isKept {
            do {
                let kept = try await cluster.within(Self.patience) { [store] in try await store.derived(key, sha256: Self.sha256) }
                if let thumbnail = kept.flatMap(Self.thumbnail) { return .success(Found(thumbnail: thumbnail, wasKept: true)) }
            } catch {
                isAnswering = false
            }
        }
        switch await pool.result(request, of: picture) {
        case .success(let thumbnail):
            if isAnswering {
                _ = try? await cluster.within(Self.patience) { [store, limit] in
                    try await store.putDerived(key, Self.bytes(thumbnail), limit: limit, sha256: Self.sha256)
                }
            }
            return .success(Found(thumbnail: thumbnail, wasKept: false))
        case .failure(let failure): return .failure(failure)
        }
    }

    /// The first word changes when thumbnails are made in another way.
    static func key(_ request: ThumbnailRequest, _ digest: SHA256Digest) -> [UInt8] {
        sha256(Array("gannet-thumbnail-1".utf8) + request.head(count: 0) + digest.bytes)
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] { SHA256Digest(of: bytes).bytes }

    private static func bytes(_ thumbnail: Thumbnail) -> [UInt8] {
        ThumbnailAnswer.thumbnail(format: thumbnail.format, size: thumbnail.size, original: thumbnail.original)
            .head(count: thumbnail.bytes.count) + thumbnail.bytes
    }

    private static func thumbnail(_ bytes: [UInt8]) -> Thumbnail? {
        guard let (answer, count) = ThumbnailAnswer.read(Array(bytes.prefix(ThumbnailAnswer.headBytes))),
            case .thumbnail(let format, let size, let original) = answer, bytes.count == ThumbnailAnswer.headBytes + count
        else { return nil }
        return Thumbnail(format: format, size: size, original: original, bytes: Array(bytes.dropFirst(ThumbnailAnswer.headBytes)))
    }
}
