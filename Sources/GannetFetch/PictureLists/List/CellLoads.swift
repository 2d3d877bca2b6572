/// Decides what is fetched for the cells near the screen, in which order, and what is cancelled. It holds nothing of cells elsewhere.
struct CellLoads<ID: Hashable & Sendable> {
    typealias Instant = ContinuousClock.Instant

    enum Action: Hashable {
        case start(ID, number: Int, FetchPriority, refresh: Bool)
        case prioritise(ID, FetchPriority)
        case cancel(ID)
        /// The cell has left: what it shows is forgotten.
        case forget(ID)
        /// To call ``wake(at:)`` then.
        case wake(at: Instant)
    }

    private enum Cell {
        case due(at: Instant, refresh: Bool)
        case loading(number: Int, FetchPriority)
        case picture
        case failed
    }

    private let dwell: Duration
    private let most: Int
    private var cells: [ID: Cell] = [:]
    /// The cells to fetch for, the most important first.
    private var wanted: [(id: ID, priority: FetchPriority)] = []
    private var lastMove: Instant?
    private var lastNumber = 0
    private var nextWake: Instant?

    /// - Parameter most: The most fetches for cells on the screen at once: a view that is not lazy says that it shows its whole list.
    init(dwell: Duration, most: Int = 256) {
        self.dwell = dwell
        self.most = most
    }

    /// Cells of which something is known here.
    var count: Int { cells.count }

    /// Whether no cell waits or loads.
    var isSettled: Bool {
        cells.values.allSatisfy { cell in
            switch cell {
            case .due, .loading: false
            case .picture, .failed: true
            }
        }
    }

    /// Other cells are near the screen.
    mutating func show(screen: [ID], ahead: [ID], behind: [ID], at now: Instant) -> [Action] {
        // After a rest the cells beside those that were there are fetched at once. The screen of a list that has begun to scroll fast may be
        // anywhere by now.
        let isScrolling = lastMove.map { now - $0 < dwell || !cells.isEmpty && !screen.contains { cells[$0] != nil } } ?? false
        lastMove = now
        wanted = screen.map { ($0, .high) } + ahead.map { ($0, .low) }
        let priorities = Dictionary(wanted.map { ($0.id, $0.priority) }, uniquingKeysWith: max)

        var actions: [Action] = []
        let kept = Set(behind)
        for (id, cell) in cells where priorities[id] == nil {
            switch cell {
            case .picture, .failed: if !kept.contains(id) { actions.append(.forget(id)) } else { continue }
            case .loading: actions += [.cancel(id), .forget(id)]
            case .due: break
            }
            cells[id] = nil
        }
        for (id, priority) in wanted {
            switch cells[id] {
            case nil: cells[id] = .due(at: isScrolling ? now + dwell : now, refresh: false)
            case .loading(let number, let before) where before != priority:
                cells[id] = .loading(number: number, priority)
                actions.append(.prioritise(id, priority))
            default: break
            }
        }
        return actions + fill(at: now)
    }

    /// A fetch has ended. Nil when it counts no more, because its cell had left.
    mutating func end(_ id: ID, number: Int, isPicture: Bool, at now: Instant) -> [Action]? {
        guard isLoading(id, number: number) else { return nil }
        cells[id] = isPicture ? .picture : .failed
        return fill(at: now)
    }

    func isLoading(_ id: ID, number: Int) -> Bool {
        if case .loading(number, _) = cells[id] { true } else { false }
    }

    mutating func wake(at now: Instant) -> [Action] {
        nextWake = nil
        return fill(at: now)
    }

    /// A cell that has failed is fetched once more, past the failure that caches remember.
    mutating func retry(_ id: ID, at now: Instant) -> [Action] {
        guard case .failed = cells[id] else { return [] }
        guard wanted.contains(where: { $0.id == id }) else {
            // It is fetched when it comes back to the screen.
            cells[id] = nil
            return [.forget(id)]
        }
        cells[id] = .due(at: now, refresh: true)
        return [.forget(id)] + fill(at: now)
    }

    /// The picture of this name is another one, or gone. The next ``show(screen:ahead:behind:at:)`` begins anew with it.
    mutating func drop(_ id: ID) -> [Action] {
        switch cells.removeValue(forKey: id) {
        case .loading: [.cancel(id), .forget(id)]
        case .picture, .failed: [.forget(id)]
        case .due, nil: []
        }
    }

    private mutating func fill(at now: Instant) -> [Action] {
        var actions: [Action] = []
        var places = most
        for (id, priority) in wanted {
            if case .loading(_, .high) = cells[id], priority == .high { places -= 1 }
        }
        var next: Instant?
        for (id, priority) in wanted {
            guard case .due(let instant, let refresh) = cells[id] else { continue }
            if instant > now {
                next = min(next ?? instant, instant)
            } else if priority != .high || places > 0 {
                if priority == .high { places -= 1 }
                lastNumber += 1
                cells[id] = .loading(number: lastNumber, priority)
                actions.append(.start(id, number: lastNumber, priority, refresh: refresh))
            }
        }
        if let next, next != nextWake {
            nextWake = next
            actions.append(.wake(at: next))
        }
        return actions
    }
}

/// The time, which a test can keep.
struct ListClock: Sendable {
    var now: @Sendable () -> ContinuousClock.Instant
    /// False when the task is cancelled meanwhile.
    var sleep: @Sendable (ContinuousClock.Instant) async -> Bool

    static let system = ListClock(now: { .now }, sleep: { (try? await Task.sleep(until: $0, clock: .continuous)) != nil })
}
