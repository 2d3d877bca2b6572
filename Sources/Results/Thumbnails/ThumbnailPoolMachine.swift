/// A picture that wants to be worked on.
struct PictureTicket: Hashable, Sendable {
    let number: Int
    /// Of the picture.
    let bytes: Int
}

/// Which program works on which picture. It has no clock and starts nothing.
///
/// A picture takes an idle program, or has one started while there are fewer than may be, or waits. A program whose work ends takes the picture
/// that has waited for longest.
struct ThumbnailPoolMachine<Child: Sendable> {
    /// For a picture.
    enum Turn: Sendable {
        case use(Child, pictures: Int)
        case start
        case wait
        case refuse
    }

    private struct Idle {
        let child: Child
        let pictures: Int
        let since: ContinuousClock.Instant
    }

    private let bounds: ThumbnailBounds
    private var idle: [Idle] = []
    private var busy = 0
    private var waiting: [PictureTicket] = []
    private var waitingBytes = 0
    private var isClosed = false

    init(_ bounds: ThumbnailBounds) { self.bounds = bounds }

    var hasIdle: Bool { !idle.isEmpty }

    mutating func want(_ picture: PictureTicket) -> Turn {
        if isClosed { return .refuse }
        // The program that worked last is the warmest.
        if let last = idle.popLast() {
            busy += 1
            return .use(last.child, pictures: last.pictures)
        }
        if busy < bounds.programs {
            busy += 1
            return .start
        }
        // A small file may be a picture that takes seconds.
        guard waiting.count < bounds.waitingPictures, waitingBytes + picture.bytes <= bounds.waiting else { return .refuse }
        waiting.append(picture)
        waitingBytes += picture.bytes
        return .wait
    }

    /// A picture waits no more. False when it has its turn already.
    mutating func leave(_ waiter: PictureTicket) -> Bool {
        guard let index = waiting.firstIndex(of: waiter) else { return false }
        waiting.remove(at: index)
        waitingBytes -= waiter.bytes
        return true
    }

    /// The actions that follow the work on a picture.
    struct Next: Sendable {
        /// The picture whose turn it is.
        var waiter: PictureTicket?
        /// The program for it; nil where one is to be started.
        var child: (child: Child, pictures: Int)?
        var ended: Child?
    }

    /// - Parameters:
    ///   - child: The program; nil when it did not start.
    ///   - pictures: How many it has worked on.
    mutating func done(_ child: Child?, pictures: Int, survived: Bool, at now: ContinuousClock.Instant) -> Next {
        let stays = child != nil && survived && pictures < bounds.pictures && !isClosed
        var next = Next()
        if !stays { next.ended = child }
        if waiting.isEmpty {
            busy -= 1
            if stays, let child { idle.append(Idle(child: child, pictures: pictures, since: now)) }
        } else {
            let waiter = waiting.removeFirst()
            waitingBytes -= waiter.bytes
            next.waiter = waiter
            if stays, let child { next.child = (child, pictures) }
        }
        return next
    }

    /// The programs that have been idle for too long, and when to look again.
    mutating func sweep(at now: ContinuousClock.Instant) -> (ended: [Child], next: ContinuousClock.Instant?) {
        let old = idle.filter { $0.since + bounds.idle <= now }
        idle.removeAll { $0.since + bounds.idle <= now }
        return (old.map(\.child), idle.map(\.since).min().map { $0 + bounds.idle })
    }

    /// From now on no picture is taken, and programs end with their work.
    mutating func close() -> [Child] {
        isClosed = true
        defer { idle = [] }
        return idle.map(\.child)
    }
}
