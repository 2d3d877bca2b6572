internal import GannetBase
package import GannetPictures

/// Makes thumbnails with a few programs of its own, which decode strangers' pictures in its place.
///
/// The programs start when they are needed, stay for the next pictures, and end when there are none for a while. A program that dies costs one
/// picture an error.
package final class ThumbnailPool: Sendable {
    private struct State {
        var machine: ThumbnailPoolMachine<ThumbnailChild>
        var waiters: [Int: CheckedContinuation<Turn, Never>] = [:]
        var tickets = 0
        var sweeping: Task<Void, Never>?
        var made = 0
        var processes: Set<pid_t> = []
    }

    /// The end of a picture's wait.
    private enum Turn: Sendable {
        case use(ThumbnailChild, pictures: Int)
        case start
        case left
        case refused
    }

    package let bounds: ThumbnailBounds
    private let program: ThumbnailProgram
    private let state: Mutex<State>

    package init(_ program: ThumbnailProgram, _ bounds: ThumbnailBounds = ThumbnailBounds()) {
        self.program = program
        self.bounds = bounds
        state = Mutex(State(machine: ThumbnailPoolMachine(bounds)))
    }

    deinit { close() }

    /// Pictures that programs have worked on.
    package var made: Int { state.withLock { $0.made } }

    package var programs: Int { processes.count }

    /// The numbers of the programs that have started and not ended.
    var processes: Set<pid_t> { state.withLock { $0.processes } }

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
        var (child, pictures): (ThumbnailChild?, Int) = (nil, 0)
        switch await turn(bytes: count) {
        case .use(let other, let count): (child, pictures) = (other, count)
        case .start: break
        case .left: return .failure(ThumbnailFailure(.cancelled, "Nobody waits for the thumbnail any more."))
        case .refused:
            return .failure(ThumbnailFailure(.busy, "Too many pictures wait for their thumbnails. Try again in a moment."))
        }
        if let idle = child, !idle.isAlive {
            end([idle])
            (child, pictures) = (nil, 0)
        }
        let given = child
        let (worked, outcome) = await OwnedThread.result(name: "thumbnail") { () -> (ThumbnailChild?, ThumbnailChild.Outcome) in
            var child = given
            do throws(ThumbnailFailure) {
                let picture = try read()
                let working = if let child { child } else { try self.start() }
                child = working
                return (working, working.make(request, of: picture))
            } catch {
                return (child, ThumbnailChild.Outcome(result: .failure(error), survived: child != nil))
            }
        }.get()
        done(worked, pictures: pictures + 1, survived: outcome.survived)
        return outcome.result
    }

    /// Ends all programs. Programs at work end with their pictures.
    package func close() {
        let (children, sweeping) = state.withLock { ($0.machine.close(), $0.sweeping) }
        sweeping?.cancel()
        end(children)
    }

    /// The turn of a picture, which may come much later.
    private func turn(bytes: Int) async -> Turn {
        let waiter = state.withLock { state in
            state.tickets += 1
            return PictureTicket(number: state.tickets, bytes: bytes)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let turn = state.withLock { state -> Turn? in
                    // A cancellation before this lock found nobody who waits.
                    if Task.isCancelled { return .left }
                    switch state.machine.want(waiter) {
                    case .use(let child, let pictures): return .use(child, pictures: pictures)
                    case .start: return .start
                    case .refuse: return .refused
                    case .wait:
                        state.waiters[waiter.number] = continuation
                        return nil
                    }
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.machine.leave(waiter) ? state.waiters.removeValue(forKey: waiter.number) : nil
            }
            continuation?.resume(returning: .left)
        }
    }

    private func done(_ child: ThumbnailChild?, pictures: Int, survived: Bool) {
        let (next, continuation) = state.withLock { state in
            if child != nil { state.made += 1 }
            let next = state.machine.done(child, pictures: pictures, survived: survived, at: .now)
            if state.machine.hasIdle, state.sweeping == nil { state.sweeping = sweeping() }
            return (next, next.waiter.flatMap { state.waiters.removeValue(forKey: $0.number) })
        }
        continuation?.resume(returning: next.child.map { .use($0.child, pictures: $0.pictures) } ?? .start)
        if let ended = next.ended { end([ended]) }
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
        let (ended, next) = state.withLock { state in
            let swept = state.machine.sweep(at: .now)
            if swept.next == nil { state.sweeping = nil }
            return swept
        }
        end(ended)
        return next
    }

    /// On a thread of its own, because the system takes its time to free a process' memory.
    private func end(_ children: [ThumbnailChild]) {
        if children.isEmpty { return }
        state.withLock { $0.processes.subtract(children.map(\.pid)) }
        OwnedThread.start(name: "thumbnail-end") { for child in children { child.end() } }
    }
}
