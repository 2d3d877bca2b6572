internal import GannetBase
internal import GannetHTTP

/// A file that may be removed to make room.
struct ColdFile: Sendable, Hashable {
    let name: EntryName
    /// As ``FileStatus/used``.
    let used: Int64
}

// The work that keeps a folder within its limit.
//
// There is no index: the file system knows what is there. A process counts all files when it opens the folder, after each sixteenth of the limit
// that it adds, and where it knows of no more files to remove. In between it adds up its own changes. Where others add more than this process,
// it counts sooner. Without that, ten processes that fill a folder would each notice too late that it is full.
extension DiskTier {
    /// The part of the limit that a process adds before it counts the folder again, when it is alone.
    static let longestPace = 1.0 / 16
    private static let shortestPace = 1.0 / 1024
    /// How many files one count remembers for removal: an eighth of them, and of a small folder all.
    private static let shareToGo = 8
    private static let fewFiles = 1024

    /// Counts the folder, and brings one above its limit down to it.
    package func tidy() throws {
        try cold.withLock { cold in
            try count(&cold)
            try makeRoom(for: 0, &cold)
        }
    }

    /// Removes files until a file of this cost fits in.
    func makeRoom(for cost: Int64, _ cold: inout [ColdFile]) throws {
        // A count that fails now is made up for later, unless it is needed to find files to remove.
        if state.withLock({ $0.added >= $0.pace }) { try? count(&cold) }
        try evict(&cold) { _ in
            let usage = usage
            return usage.bytes + cost > limit || usage.files + (cost > 0 ? 1 : 0) > mostFiles
        }
    }

    /// Removes files because the disk is full.
    func shrink(by bytes: Int64) throws {
        try cold.withLock { cold in try evict(&cold) { freed in freed < bytes } }
    }

    /// Removes the least recently used files, as long as it is told to go on with the bytes freed so far.
    private func evict(_ cold: inout [ColdFile], while isTooFull: (Int64) -> Bool) throws {
        var freed: Int64 = 0
        var isJustCounted = false
        while isTooFull(freed) {
            if let file = cold.popLast() {
                guard let bytes = try evict(file) else { continue }
                freed += bytes
                isJustCounted = false
            } else if isJustCounted {
                throw StorageFailure(.noRoom)
            } else {
                try count(&cold)
                isJustCounted = true
            }
        }
    }

    /// Removes a file, unless it was used after it had been seen; returns the room that this makes.
    private func evict(_ file: ColdFile) throws -> Int64? {
        // A file that another process has removed made room for one of that process, so the sum stays.
        guard let folder = try shard(file.name.shard), let status = try FileStatus(file.name.file, in: folder), status.used <= file.used,
            try remove(file.name, in: folder)
        else { return nil }
        note { $0.counts.evictions += 1 }
        return status.cost
    }

    /// Counts all files, finds those that were used longest ago, and removes what dead writers left.
    private func count(_ cold: inout [ColdFile]) throws {
        removeLeftovers()
        var counted = FolderUsage(isCounted: true)
        var found: [ColdFile] = []
        for shard in 0...UInt8.max {
            guard let folder = try shardToCount(shard) else { continue }
            try folder.forEachName { file in
                guard let name = EntryName(file: file, shard: shard), let status = try? FileStatus(file, in: folder), status.isRegular
                else { return }
                counted.bytes += status.cost
                counted.files += 1
                found.append(ColdFile(name: name, used: status.used))
                let most = max(Self.fewFiles, counted.files / Self.shareToGo)
                if found.count >= 2 * most { Self.keepColdest(most, of: &found) }
            }
        }
        Self.keepColdest(max(Self.fewFiles, counted.files / Self.shareToGo), of: &found)
        cold = found
        note { state in
            let others = state.usage.isCounted ? max(0, share(counted) - share(state.usage)) : 0
            let own = others > 0 ? state.added / (state.added + others) : 1
            state.pace = max(Self.shortestPace, Self.longestPace * own)
            state.added = 0
            state.usage = counted
        }
    }

    /// Nil for a subfolder that is missing, or is none. A process without descriptors cannot count.
    private func shardToCount(_ number: UInt8) throws -> OpenFolder? {
        do {
            return try shard(number)
        } catch let failure as StorageFailure where failure.errno != EMFILE && failure.errno != ENFILE {
            return nil
        }
    }

    private static func keepColdest(_ most: Int, of files: inout [ColdFile]) {
        files.sort { $0.used > $1.used }
        if files.count > most { files.removeFirst(files.count - most) }
    }

    private func share(_ usage: FolderUsage) -> Double { max(Double(usage.bytes) / Double(limit), Double(usage.files) / Double(mostFiles)) }

    /// Removes temporary files without a living writer.
    private func removeLeftovers() {
        guard let folder = try? temporary() else { return }
        try? folder.forEachName { name in
            // Opened for writing, because network file systems give exclusive locks to writers only.
            guard name.hasPrefix(BodyFile.prefix), let file = try? FoundFile(name, in: folder, forWriting: true),
                file.lock() ?? (file.age >= .seconds(3600)), (try? folder.removeFile(name)) == true
            else { return }
            note { $0.counts.leftovers += 1 }
        }
    }

    // MARK: Sums

    func noteAdded(_ cost: Int64, replacing old: FileStatus?) {
        if let old, old.isRegular { noteRemoved(old) }
        note { state in
            state.usage.bytes += cost
            state.usage.files += 1
            state.added += share(FolderUsage(bytes: cost, files: 1))
        }
    }

    func noteRemoved(_ file: FileStatus) {
        note { state in
            // A sum below zero only shows that this process has not counted yet, or that others had removed files before.
            state.usage.bytes = max(0, state.usage.bytes - file.cost)
            state.usage.files = max(0, state.usage.files - 1)
        }
    }
}
