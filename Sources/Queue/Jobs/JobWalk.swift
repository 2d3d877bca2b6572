/// Goes through selected jobs that are not active, a part at a time.
struct JobWalk {
    private let queue: FetchQueue
    private let selection: JobSelection
    private var reader: JobReader?
    /// Where the next part begins; `nil` behind the last one.
    private(set) var next: JobCursor?

    init(_ queue: FetchQueue, _ selection: JobSelection, from cursor: JobCursor) {
        self.queue = queue
        self.selection = selection
        next = cursor
    }

    /// Looks at the next part. It may be empty without being the last. Jobs whose URL is not valid UTF-8 are counted and not listed.
    mutating func look(limit: Int) async throws -> (jobs: [ListedJob], count: Int) {
        guard let cursor = next, queue.cluster.partitions.indices.contains(cursor.partition) else {
            next = nil
            return ([], 0)
        }
        _ = try queue.checkedName()
        let partition = queue.cluster.partitions[cursor.partition]
        var reader = self.reader ?? JobReader(queue, partition, selection)
        reader.forgetBatches()
        var page = JobPage(reader, limit: limit, looks: FetchQueue.jobsAtOnce)
        let place: [Int]?
        if selection.state == .dead {
            place = try await page.addDead(from: cursor.place[2]).map { [0, 0, $0, 0, 0] }
        } else {
            place = try await page.addWaiting(from: cursor.place)
        }
        let isLast = place == nil && cursor.partition + 1 == queue.cluster.partitions.count
        self.reader = place == nil ? nil : page.reader
        next = isLast ? nil : JobCursor(partition: place == nil ? cursor.partition + 1 : cursor.partition, place: place)
        return (page.jobs, page.count)
    }
}
