public import FoundationEssentials
internal import GannetBase

/// A list of pictures that a view scrolls: it fetches for the cells on the screen and a few ahead, and cancels what has left.
///
/// A view calls ``show(_:)`` with the cells on the screen, and draws each state that comes from ``updates``. The list holds the states of
/// cells near the screen only. The fetcher's caches keep the pictures of the others.
///
/// ```swift
/// let list = PictureList(urls.map { Picture($0) }, fetcher: fetcher)
/// list.show(urls.prefix(20).map(\.absoluteString))
/// for await update in list.updates {
///     for id in update.changed { draw(update[id], at: update.contents.position(of: id)) }
/// }
/// ```
public actor PictureList<Content: Sendable> {
    private struct Inbox {
        var visible: [Picture.ID] = []
        var isTaskComing = false
    }

    private let options: PictureListOptions
    private let clock: ListClock
    private let begin: @Sendable (FetchRequest) -> FetchTask<Content>
    private let measure: @Sendable (Content) -> Int64?

    /// As they were given. The contents are made of them when they are first needed.
    private var pictures: [Picture]
    private var arrangement: PictureArrangement
    private lazy var contents = PictureContents(pictures, arrangement)

    /// The latest call of ``show(_:)``. Calls before it that were not yet acted upon cost nothing.
    private let inbox = Mutex(Inbox())
    private var visible: [Picture.ID] = []
    private var scrolling = Scrolling()
    private var loads: CellLoads<Picture.ID>
    private var tasks: [Picture.ID: FetchTask<Content>] = [:]
    private var alarm: Task<Void, Never>?

    private var cells: [Picture.ID: CellState<Content>] = [:]
    /// The numbers of the latest changes.
    private var changes: (last: UInt64, contents: UInt64, cells: [Picture.ID: UInt64]) = (0, 0, [:])
    private let readers = Relay<Void>(latest: ())

    /// A list whose cells show what `transform` makes of a picture's bytes, such as a decoded picture.
    ///
    /// The fetcher keeps these values, as `Fetcher.value(from:variant:cost:transform:)` does.
    public init(
        _ pictures: some Sequence<Picture>, fetcher: Fetcher, _ options: PictureListOptions = PictureListOptions(), variant: String = "",
        cost: (@Sendable (Content) -> Int)? = nil, transform: @escaping @Sendable (Data) async throws -> Content
    ) {
        self.init(
            pictures, options, .system, measure: { _ in nil },
            begin: { fetcher.task(for: $0, variant: variant, cost: cost, transform: transform) })
    }

    init(
        _ pictures: some Sequence<Picture>, _ options: PictureListOptions, _ clock: ListClock,
        measure: @escaping @Sendable (Content) -> Int64?, begin: @escaping @Sendable (FetchRequest) -> FetchTask<Content>
    ) {
        self.pictures = Array(pictures)
        self.options = options
        self.clock = clock
        self.measure = measure
        self.begin = begin
        arrangement = options.arrangement
        loads = CellLoads(dwell: options.dwell)
    }

    deinit {
        // A fetch goes on when nobody holds it.
        for task in tasks.values { task.cancel() }
        alarm?.cancel()
        readers.end()
    }

    // MARK: For views

    /// The cells that are on the screen now. Views call it as often as they like: only the latest call counts.
    public nonisolated func show(_ ids: some Sequence<Picture.ID>) {
        let visible = Array(ids)
        let isFirst = inbox.withLock { inbox in
            inbox.visible = visible
            defer { inbox.isTaskComing = true }
            return !inbox.isTaskComing
        }
        if isFirst { Task { await self.look() } }
    }

    /// The state of the list now, and after each change.
    public nonisolated var updates: PictureListUpdates<Content> {
        PictureListUpdates(readers: readers) { [weak self] in await self?.update(since: $0) }
    }

    /// The state of the list now.
    public var current: PictureListUpdate<Content> { update(since: SeenByReader()) }

    /// Fetches once more for a cell that has failed.
    public func retry(_ id: Picture.ID) {
        carryOut(loads.retry(id, at: clock.now()))
        readers.signal()
    }

    // MARK: Its pictures

    /// Gives the list another order, or other sections. Sizes that were learnt since count now.
    public func arrange(_ arrangement: PictureArrangement) {
        self.arrangement = arrangement
        rearrange()
    }

    /// Adds pictures at the end. A picture whose `id` is in the list takes its place.
    public func add(_ added: some Sequence<Picture>) {
        var indices = Dictionary(pictures.indices.lazy.map { (self.pictures[$0].id, $0) }, uniquingKeysWith: { first, _ in first })
        for picture in added {
            if let index = indices[picture.id] {
                change(from: pictures[index], to: picture)
                pictures[index] = picture
            } else {
                indices[picture.id] = pictures.count
                pictures.append(picture)
            }
        }
        rearrange()
    }

    public func remove(_ ids: some Sequence<Picture.ID>) {
        let removed = Set(ids)
        pictures.removeAll { removed.contains($0.id) }
        rearrange()
    }

    /// Gives the list other pictures. Cells that stay keep their state.
    public func replace(with pictures: some Sequence<Picture>) {
        let pictures = Array(pictures)
        for picture in pictures {
            if cells[picture.id] != nil, let position = contents.position(of: picture.id) {
                change(from: contents.pictures[position], to: picture)
            }
        }
        self.pictures = pictures
        rearrange()
    }

    private func change(from old: Picture, to new: Picture) {
        if old.url != new.url { carryOut(loads.drop(old.id)) }
    }

    private func rearrange() {
        contents = PictureContents(pictures, arrangement)
        changes.last += 1
        changes.contents = changes.last
        let positions = visible.compactMap { contents.position(of: $0) }
        come(near: scrolling.rearrange(to: positions, of: contents.pictures.count, ahead: options.ahead, behind: options.behind))
        readers.signal()
    }

    // MARK: What is fetched

    private func look() {
        visible = inbox.withLock { inbox in
            inbox.isTaskComing = false
            return inbox.visible
        }
        let positions = visible.compactMap { contents.position(of: $0) }
        come(near: scrolling.move(to: positions, of: contents.pictures.count, ahead: options.ahead, behind: options.behind))
        readers.signal()
    }

    private func come(near: NearCells) {
        let id = { self.contents.pictures[$0].id }
        carryOut(loads.show(screen: near.screen.map(id), ahead: near.ahead.map(id), behind: near.behind.map(id), at: clock.now()))
    }

    private func carryOut(_ actions: [CellLoads<Picture.ID>.Action]) {
        for action in actions {
            switch action {
            case .start(let id, let number, let priority, let refresh): start(id, number, priority, refresh)
            case .prioritise(let id, let priority): tasks[id]?.priority = priority
            case .cancel(let id): tasks.removeValue(forKey: id)?.cancel()
            case .forget(let id):
                cells[id] = nil
                changes.cells[id] = nil
            case .wake(let instant):
                alarm?.cancel()
                alarm = Task { [weak self, clock] in
                    guard await clock.sleep(instant) else { return }
                    await self?.wake()
                }
            }
        }
    }

    private func wake() {
        carryOut(loads.wake(at: clock.now()))
        readers.signal()
    }

    private func start(_ id: Picture.ID, _ number: Int, _ priority: FetchPriority, _ refresh: Bool) {
        guard let position = contents.position(of: id) else { return }
        var request = options.request(contents.pictures[position])
        request.priority = priority
        if refresh { request.refresh = true }
        let task = begin(request)
        tasks[id] = task
        show(.loading(FetchProgress()), for: id)
        Task { [weak self] in
            var received: Int64?
            for await progress in task.progress {
                received = progress.received
                await self?.progress(progress, id, number)
            }
            let result: Result<Content, FetchError>
            do throws(FetchError) {
                result = .success(try await task.value)
            } catch {
                result = .failure(error)
            }
            await self?.end(result, received, id, number)
        }
    }

    private func progress(_ progress: FetchProgress, _ id: Picture.ID, _ number: Int) {
        guard loads.isLoading(id, number: number) else { return }
        show(.loading(progress), for: id)
        readers.signal()
    }

    private func end(_ result: Result<Content, FetchError>, _ received: Int64?, _ id: Picture.ID, _ number: Int) {
        let isPicture = (try? result.get()) != nil
        guard let actions = loads.end(id, number: number, isPicture: isPicture, at: clock.now()) else { return }
        tasks[id] = nil
        switch result {
        case .success(let content):
            show(.picture(content), for: id)
            learn(measure(content) ?? received, id)
        case .failure(let error): show(.failed(error), for: id)
        }
        carryOut(actions)
        readers.signal()
    }

    /// The size counts when the list is next arranged: cells that moved by themselves would annoy.
    private func learn(_ size: Int64?, _ id: Picture.ID) {
        guard let size, let position = contents.position(of: id) else { return }
        let index = contents.origins[position]
        if pictures[index].byteCount == nil { pictures[index].byteCount = size }
    }

    // MARK: What is seen of it

    private func show(_ state: CellState<Content>, for id: Picture.ID) {
        changes.last += 1
        changes.cells[id] = changes.last
        cells[id] = state
    }

    private func update(since seen: SeenByReader) -> PictureListUpdate<Content> {
        let new = changes.cells.compactMap { id, number in seen.cells[id] == number ? nil : id }
        let gone = seen.cells.keys.filter { changes.cells[$0] == nil }
        let places = (new + gone).map { (contents.position(of: $0) ?? .max, $0) }
        let isSettled = loads.isSettled && !isLookComing
        return PictureListUpdate(
            contents: contents, isRearranged: seen.contents != changes.contents, cells: cells,
            changed: places.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1), isSettled: isSettled,
            seen: SeenByReader(contents: changes.contents, cells: changes.cells, isSettled: isSettled))
    }

    /// Whether a call of ``show(_:)`` was not yet acted upon.
    var isLookComing: Bool { inbox.withLock { $0.isTaskComing } }

    /// Cells of which the list holds something.
    var heldCells: Int { max(cells.count, loads.count, tasks.count) }

    /// The sizes of pictures, given or learnt.
    var learntSizes: [Picture.ID: Int64] {
        Dictionary(pictures.compactMap { picture in picture.byteCount.map { (picture.id, $0) } }, uniquingKeysWith: { first, _ in first })
    }
}

extension PictureList where Content == FetchedImage {
    /// A list whose cells show the bytes of images that were examined.
    public init(_ pictures: some Sequence<Picture>, fetcher: Fetcher, _ options: PictureListOptions = PictureListOptions()) {
        self.init(pictures, options, .system, measure: { Int64($0.data.count) }, begin: { fetcher.imageTask(for: $0) })
    }
}

/// A dump shows nothing of a list, whose pictures another task may be changing.
extension PictureList: CustomReflectable {
    public nonisolated var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
