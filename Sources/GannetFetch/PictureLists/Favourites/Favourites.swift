public import FoundationEssentials
internal import GannetBase

/// Favourite pictures in a small file, safe against crashes and other processes.
///
/// Each change is on the disk, whole, when its call returns, and the file is whole at every moment. Processes that use one file see each
/// other's changes and lose none. The folder has to exist. A file `.lock` beside the favourites stays there.
///
/// ```swift
/// let favourites = try Favourites(URL(filePath: "favourites.json"))
/// try await favourites.add(picture.id)
/// for await all in favourites.changes { show(all) }
/// ```
public final class Favourites: Sendable {
    private struct State {
        var known: FavouritesFile.Content?
        var last: Task<Void, Never>?
    }

    private let file: FavouritesFile
    private let state = Mutex(State())
    private let readers = Relay<Void>(latest: ())

    /// Throws when the URL is no file URL, or the limit is negative.
    /// - Parameters:
    ///   - file: The file, which need not exist yet.
    ///   - limit: The greatest number of favourites. In the file they may take 4 MB.
    public convenience init(_ file: URL, limit: Int = 10_000) throws(InvalidOptions) {
        try InvalidOptions.unless(file.isFileURL, "The file of favourites is no file URL: write URL(filePath: …).")
        try InvalidOptions.unless(limit >= 0, "The limit of favourites must not be negative.")
        self.init(FavouritesFile(path: file.path, mostFavourites: limit, mostBytes: 4_000_000, lockWait: .seconds(10)))
    }

    init(_ file: FavouritesFile) { self.file = file }

    deinit { readers.end() }

    /// All favourites, in the order in which they were added.
    public var all: [Favourite] {
        get async throws(FavouritesError) {
            try await inTurn { [self] () throws(FavouritesError) in try latest().favourites }
        }
    }

    public func contains(_ id: Picture.ID) async throws(FavouritesError) -> Bool {
        try await all.contains { $0.id == id }
    }

    /// False when it was there already.
    @discardableResult
    public func add(_ id: Picture.ID) async throws(FavouritesError) -> Bool {
        let favourite = Favourite(id, added: .now)
        return try await change { favourites in
            guard !favourites.contains(where: { $0.id == id }) else { return false }
            favourites.append(favourite)
            return true
        }
    }

    /// False when it was not there.
    @discardableResult
    public func remove(_ id: Picture.ID) async throws(FavouritesError) -> Bool {
        try await change { favourites in
            let count = favourites.count
            favourites.removeAll { $0.id == id }
            return favourites.count < count
        }
    }

    /// All favourites now, and after each change: at once after a change by this object, and within a second after another's.
    ///
    /// A slow reader misses states in between. While the file cannot be read there is no news.
    public var changes: AsyncStream<[Favourite]> { changes(every: .seconds(1)) }

    func changes(every interval: Duration) -> AsyncStream<[Favourite]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [Favourite].self, bufferingPolicy: .bufferingNewest(1))
        let signals = readers.stream()
        let listener = Task { [weak self] in
            var seen: [Favourite]?
            for await _ in signals {
                guard let self else { break }
                guard let latest = await self.glance(), latest != seen else { continue }
                seen = latest
                continuation.yield(latest)
            }
            continuation.finish()
        }
        // Other processes give no sign: the file is looked at. That is one call of the system while nothing has changed.
        let ticker = Task { [readers] in
            while (try? await Task.sleep(for: interval)) != nil { readers.signal() }
        }
        continuation.onTermination = { _ in
            listener.cancel()
            ticker.cancel()
        }
        return stream
    }

    // MARK: Work on the file

    private func change(_ edit: @escaping @Sendable (inout [Favourite]) -> Bool) async throws(FavouritesError) -> Bool {
        try await inTurn { [self] () throws(FavouritesError) in
            var hasChanged = false
            let content = try file.change { favourites in
                hasChanged = edit(&favourites)
                return hasChanged
            }
            state.withLock { $0.known = content }
            if hasChanged { readers.signal() }
            return hasChanged
        }
    }

    /// The content, read only when the file is another than before.
    private func latest() throws(FavouritesError) -> FavouritesFile.Content {
        if let known { return known }
        let content = try file.read()
        state.withLock { $0.known = content }
        return content
    }

    /// The favourites as far as they can be read. A damaged file is left to the next call that can throw.
    private func glance() async -> [Favourite]? {
        await inTurn { [self] in
            if let known { return known.favourites }
            guard let content = try? file.peek() else { return nil }
            state.withLock { $0.known = content }
            return content.favourites
        }
    }

    private var known: FavouritesFile.Content? {
        guard let known = state.withLock({ $0.known }), known.identity == file.identity else { return nil }
        return known
    }

    /// Runs work that blocks, after the work before it: so all callers together need one thread.
    private func inTurn<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let task = state.withLock { state in
            let before = state.last
            let task = Task {
                await before?.value
                return await OwnedThread.result(name: "favourites", work)
            }
            state.last = Task { _ = await task.value }
            return task
        }
        return try await task.value.get()
    }
}
