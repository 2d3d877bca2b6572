internal import GannetHTTP

// The work that keeps a folder within its limit. Each call blocks, and does a bounded amount of work.
extension BoundedFolder {
    private static let mostCounts = 64
    private static let mostRemovals = 4096
    /// Of few files it may take all subfolders to find one that may go, and counting them takes nearly no time.
    private static let mostCountsOfFew = 2 * SharedSum.shards
    private static let few = 4096
    private static let attemptsToCount = 3

    /// Reserves room for a file of this cost. Files that cannot be removed at once are left to the next writes, up to a sixteenth of the
    /// limit.
    func makeRoom(for cost: Int64) throws {
        var counts = 0
        var seen = 0
        var removals = 0
        while counts < (seen < Self.few ? Self.mostCountsOfFew : Self.mostCounts), removals < Self.mostRemovals {
            switch withState({ $0.step(toFit: cost) }) {
            case .enough: return
            case .count(let shard):
                counts += 1
                seen += count(shard)
            case .remove(let file):
                removals += 1
                _ = try evict(file)
            }
        }
        guard withState({ $0.squeeze(cost) }) else { throw StorageFailure(.noRoom) }
    }

    /// Removes the files that may go of a folder above its limit, before another subfolder is counted; false when it cannot.
    private func shrinkToLimit() -> Bool {
        for _ in 0..<Self.mostRemovals {
            guard let file = withState({ $0.removalToLimit() }) else { return true }
            guard (try? evict(file)) != nil else { return false }
        }
        return true
    }

    /// Removes files because the disk is full; false when none could be removed.
    func shrink(by bytes: Int64) -> Bool {
        var freed: Int64 = 0
        var steps = 0
        while freed < bytes, steps < Self.mostCounts * 4 {
            steps += 1
            switch withState({ $0.stepToRemove() }) {
            case .enough: break
            case .count(let shard): count(shard)
            case .remove(let file): freed += (try? evict(file)) ?? 0
            }
        }
        return freed > 0
    }

    /// Removes a file, unless it was used after it had been seen; returns the room that this makes.
    private func evict(_ file: ColdFiles.File) throws -> Int64 {
        try changing(file.name.shard) { try remove(file) }
    }

    private func remove(_ file: ColdFiles.File) throws -> Int64 {
        let name = file.name
        guard let shard = try shard(name.shard), let status = try FileStatus(name.file, in: shard), status.isRegular else {
            withState { $0.removed(file.bytes, from: name.shard) }
            return 0
        }
        guard status.used <= file.used else {
            withState { $0.spared(.init(name: name, bytes: FolderState.cost(ofSize: status.size), used: status.used)) }
            return 0
        }
        guard try shard.removeFile(name.file) else { return 0 }
        withState { $0.removed(file.bytes, from: name.shard) }
        note { $0.evictions += 1 }
        return file.bytes
    }

    /// Counts the files of a subfolder, and returns their number. Where that fails, the former count stays. It also stays where this process
    /// changes the subfolder each time, because it has been kept up to date.
    @discardableResult
    func count(_ shard: UInt8) -> Int {
        for attempt in 1...Self.attemptsToCount {
            let start = withState { $0.activity(in: shard) }
            guard let count = look(into: shard) else { return 0 }
            let isTaken = withState { state in
                let isTaken = state.isBelievable(shard, since: start) || attempt == Self.attemptsToCount && !state.isCounted(shard)
                if isTaken { state.counted(shard, count) }
                return isTaken
            }
            if isTaken { return Int(count.files) }
        }
        return 0
    }

    /// The files of a subfolder; nil where it cannot be read.
    private func look(into shard: UInt8) -> ShardCount? {
        var count = ShardCount()
        do {
            let folder = try self.shard(shard)
            try folder?.forEachName { file in
                guard let name = EntryName(file: file, shard: shard), let folder,
                    let status = try? FileStatus(file, in: folder), status.isRegular
                else { return }
                let cost = FolderState.cost(ofSize: status.size)
                count.bytes += cost
                count.files += 1
                count.cold.see(.init(name: name, bytes: cost, used: status.used))
            }
        } catch {
            return nil
        }
        return count
    }

    /// Counts subfolders that are due, when nothing more urgent waits. Brings a folder that is above its limit down to it. After each round
    /// it removes what dead writers left.
    func lookIfDue() {
        guard withState({ $0.isCountWanted() }) else { return }
        // Where such a job waits already, it goes on with all subfolders that are due.
        threads.tidy { [weak self] in
            guard let self else { return }
            if withState({ $0.isRoundComplete }) { removeLeftovers() }
            count(withState { $0.nextCount() })
            if shrinkToLimit() { lookIfDue() }
        }
    }

    /// Removes temporary files without a living writer.
    private func removeLeftovers() {
        guard let folder = try? temporary() else { return }
        try? folder.forEachName { name in
            // Opened for writing, because network file systems give exclusive locks to writers only.
            guard name.hasPrefix(BodyFile.prefix), let file = try? FoundFile(name, in: folder, forWriting: true),
                file.lock() ?? (file.age >= options.leftoverAge), (try? folder.removeFile(name)) == true
            else { return }
            note { $0.leftovers += 1 }
        }
    }
}
