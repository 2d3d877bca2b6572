internal import GannetBase
internal import GannetFetch
package import GannetPictures

/// Makes thumbnails with a few programs of its own, which decode strangers' pictures in its place.
///
/// The programs start when they are needed, stay for the next pictures, and end when there are none for a while. A program that dies costs one
/// picture an error. A picture takes the program that worked last, or has one started while there are fewer than may be, or waits for its turn.
package final class ThumbnailPool: Sendable {
    private struct Idle {
        let child: ThumbnailChild
        /// How many it has worked on.
        let pictures: Int
        let since: ContinuousClock.Instant
    }

    private struct State {
        /// The warmest is the last.
        var idle: [Idle] = []
        /// Pictures that are worked on or wait.
        var taken = 0
        var waitingBytes = 0
        var isClosed = false
        var sweeping: Task<Void, Never>?
        var made = 0
        var processes: Set<pid_t> = []
    }

    package let bounds: ThumbnailBounds
    private let program: ThumbnailProgram
    private let gate: DownloadGate
    private let state = Mutex(State())

    package init(_ program: ThumbnailProgram, _ bounds: ThumbnailBounds = ThumbnailBounds()) {
        self.program = program
        self.bounds = bounds
        gate = DownloadGate(places: bounds.programs)
    }

    deinit { close() }

    /// Pictures that programs have worked on.
    package var made: Int { state.withLock { $0.made } }

    package var programs: Int { processes.count }

    /// The numbers of the programs that have started and not ended.
    var processes: Set<pid_t> { state.withLock { $0.processes } }

    /// Pictures that are worked on or wait.
    var taken: Int { state.withLock { $0.taken } }

    /// Throws where no picture can be made, before anything is fetched for one.
    package func check() throws(ThumbnailFailure) { _ = try program.find() }

    package func result(_ request: ThumbnailRequest, of picture: [UInt8]) async -> Result<Thumbnail, ThumbnailFailure> {
        await result(request, count: picture.count) { picture }
    }

    /// Goes on with a picture once it is begun, also when the task is cancelled: that takes a bounded time.
    /// - Parameters:
    ///   - count: The bytes of the picture.
    ///   - read: The picture, when its turn has come; called on a thread that may wait.
    package func result(
        _ request: ThumbnailRequest, count: Int, read: @escaping @Sendable () throws(ThumbnailFailure) -> [UInt8]
    ) async -> Result<Thumbnail, ThumbnailFailure> {
        do throws(ThumbnailFailure) { try check() } catch { return .failure(error) }
        guard count <= bounds.input else {
            return .failure(ThumbnailFailure(.tooLarge, "The picture has \(count) bytes; at most \(bounds.input) are permitted."))
        }
        guard let waits = take(count) else {
            return .failure(ThumbnailFailure(.busy, "Too many pictures wait for their thumbnails. Try again in a moment."))
        }
        let hasTurn = await Task.isCancelled ? false : gate.enter()
        let given = state.withLock { state -> Idle? in
            if waits { state.waitingBytes -= count }
            if !hasTurn { state.taken -= 1 }
            return hasTurn ? state.idle.popLast() : nil
        }
        guard hasTurn else { return .failure(ThumbnailFailure(.cancelled, "Nobody waits for the thumbnail any more.")) }
        let warm = given.flatMap { $0.child.isAlive ? $0 : nil }
        if let given, warm == nil { end([given.child]) }
        let (child, outcome) = await OwnedThread.result(name: "thumbnail") { () -> (ThumbnailChild?, ThumbnailChild.Outcome) in
            var child = warm?.child
            do throws(ThumbnailFailure) {
                let picture = try read()
                let working = if let child { child } else { try self.start() }
                child = working
                return (working, working.make(request, of: picture))
            } catch {
                return (child, (result: .failure(error), survived: child != nil))
            }
        }.get()
        done(child, pictures: (warm?.pictures ?? 0) + 1, survived: outcome.survived)
        gate.leave()
        return outcome.result
    }

    /// Whether a picture has to wait; nil where it is refused. A small file may be a picture that takes seconds.
    private func take(_ count: Int) -> Bool? {
        state.withLock { state -> Bool? in
            let waits = state.taken >= bounds.programs
            if state.isClosed { return nil }
            if waits {
                guard state.taken - bounds.programs < bounds.waitingPictures, state.waitingBytes + count <= bounds.waiting else {
                    return nil
                }
                state.waitingBytes += count
            }
            state.taken += 1
            return waits
        }
    }

    /// A program ends with its last picture, and its death or the close of the pool ends it too.
    private func done(_ child: ThumbnailChild?, pictures: Int, survived: Bool) {
        let ended = state.withLock { state -> ThumbnailChild? in
            state.taken -= 1
            guard let child else { return nil }
            state.made += 1
            guard survived, pictures < bounds.pictures, !state.isClosed else { return child }
            state.idle.append(Idle(child: child, pictures: pictures, since: .now))
            if state.sweeping == nil { state.sweeping = sweeping() }
            return nil
        }
        if let ended { end([ended]) }
    }

    /// Ends all programs. Programs at work end with their pictures, and no further picture is taken.
    package func close() {
        let (idle, sweeping) = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return (state.idle, state.sweeping)
        }
        sweeping?.cancel()
        end(idle.map(\.child))
    }

    private func start() throws(ThumbnailFailure) -> ThumbnailChild {
        let child = try ThumbnailChild.start(program, bounds)
        _ = state.withLock { $0.processes.insert(child.pid) }
        return child
    }

    /// Ends idle programs when their time comes, until there are none.
    private func sweeping() -> Task<Void, Never> {
        Task { [weak self] in
            while !Task.isCancelled, let next = self?.endIdle() { try? await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// When to look again; nil where no program is idle.
    private func endIdle() -> ContinuousClock.Instant? {
        let (old, next) = state.withLock { state in
            let now = ContinuousClock.now
            let old = state.idle.filter { $0.since + bounds.idle <= now }
            state.idle.removeAll { $0.since + bounds.idle <= now }
            let next = state.idle.map(\.since).min().map { $0 + bounds.idle }
            if next == nil { state.sweeping = nil }
            return (old, next)
        }
        end(old.map(\.child))
        return next
    }

    /// On a thread of its own, because the system takes its time to free a process' memory.
    private func end(_ children: [ThumbnailChild]) {
        if children.isEmpty { return }
        state.withLock { $0.processes.subtract(children.map(\.pid)) }
        OwnedThread.start(name: "thumbnail-end") { for child in children { child.end() } }
    }
}
