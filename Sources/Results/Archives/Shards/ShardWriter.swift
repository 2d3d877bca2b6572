internal import GannetBase

/// Writes samples into numbered tar files, as webdataset reads them. Docs/ARCHIVES.md says what the files are.
///
/// Any thread may call it, and calls go one after another. A shard has its name without `.open` only when all of it is on the disk, and then it is
/// never touched again. The samples of an open shard are the caller's to repeat: a kill, or a failed write, takes the whole shard.
package final class ShardWriter: Sendable {
    // libarchive's handle stays inside the lock.
    private struct OpenShard: @unchecked Sendable {
        let number: Int
        let tar: TarFile
        var keys: Set<String> = []
    }
    private struct State {
        var shard: OpenShard?
        var next: Int
        var isClosed = false
    }

    private let folder: String
    private let options: ShardOptions
    private let state: Mutex<State>

    /// Removes shards that an earlier run has left open, and goes on behind the last number in the folder.
    ///
    /// One writer at a time may use a folder. A shard that another process has open is found and refused.
    package init(folder: String, options: ShardOptions = ShardOptions()) throws {
        self.folder = folder
        self.options = options
        var next = 0
        for name in try ArchiveFolder.names(in: folder) {
            guard let found = ShardName.number(name) else { continue }
            guard found.isOpen else {
                next = max(next, found.number + 1)
                continue
            }
            let left = try OpenedFile(folder + "/" + name, O_RDWR)
            guard left.lock() else {
                throw ArchiveError.foreign(path: left.path, "is another process' open shard. Wait for its end, or use another folder.")
            }
            try ArchiveFolder.remove(left.path)
        }
        state = Mutex(State(next: next))
    }

    // MARK: Writing

    /// Adds a sample to the open shard, or begins a shard with it.
    ///
    /// An error other than ``ArchiveError/unfit(_:)`` takes the open shard: all its samples are the caller's to repeat, and the next sample begins a
    /// new file of the same number.
    package func add(_ sample: ShardSample) throws -> ShardPlace {
        let names = try ShardName.names(of: sample)
        return try state.withLock { state in
            if state.isClosed { throw ArchiveError.ended("The shards are closed.") }
            if state.shard == nil { try begin(&state) }
            guard var shard = state.shard.take() else { throw ArchiveError.ended("There is no shard.") }
            guard shard.keys.insert(sample.key).inserted else {
                state.shard = shard
                throw ArchiveError.unfit("The key \(sample.key) is in shard \(shard.number) already.")
            }
            do {
                for (name, part) in zip(names, sample.parts) { try shard.tar.add(name, part.content) }
                let isFull = shard.keys.count >= options.samplesPerShard || shard.tar.size >= options.shardSize
                if isFull { try complete(shard, &state) } else { state.shard = shard }
                return ShardPlace(shard: shard.number, file: ShardName.file(shard.number, digits: options.digits), isComplete: isFull)
            } catch {
                try? ArchiveFolder.remove(shard.tar.file.path)
                throw error
            }
        }
    }

    /// Completes the last shard, and answers its number if there was one. Nothing can be added afterwards.
    package func close() throws -> Int? {
        try state.withLock { state in
            state.isClosed = true
            guard let shard = state.shard.take() else { return nil }
            do { try complete(shard, &state) } catch {
                try? ArchiveFolder.remove(shard.tar.file.path)
                throw error
            }
            return shard.number
        }
    }

    private func path(_ number: Int) -> String { folder + "/" + ShardName.file(number, digits: options.digits) }

    private func begin(_ state: inout State) throws {
        let file = try OpenedFile(path(state.next) + ShardName.open, O_RDWR | O_CREAT | O_EXCL)
        guard file.lock() else { throw ArchiveError.refused("locked", file.path) }
        state.shard = OpenShard(number: state.next, tar: try TarFile(file))
    }

    private func complete(_ shard: OpenShard, _ state: inout State) throws {
        try shard.tar.end()
        try shard.tar.file.sync()
        let path = path(shard.number)
        guard !ArchiveFolder.exists(path) else {
            throw ArchiveError.foreign(path: path, "has come into the folder meanwhile. Move it elsewhere.")
        }
        try ArchiveFolder.rename(shard.tar.file.path, to: path)
        state.next = shard.number + 1
        try ArchiveFolder.sync(folder)
    }

    // MARK: Reading

    /// The numbers of the complete shards in a folder, sorted.
    package static func shards(in folder: String) throws -> [Int] {
        try ArchiveFolder.names(in: folder).compactMap { ShardName.number($0) }.filter { !$0.isOpen }.map(\.number).sorted()
    }

    /// The name of a shard's file.
    package static func file(ofShard number: Int, digits: Int = ShardOptions().digits) -> String { ShardName.file(number, digits: digits) }

    /// The samples of a complete shard, in their order.
    ///
    /// A run that was killed between the end of a shard and its own record of that asks here which samples it need not repeat.
    package static func samples(inShard number: Int, of folder: String, digits: Int = ShardOptions().digits) throws -> [FoundSample] {
        var samples: [FoundSample] = []
        for name in try TarNames.read(folder + "/" + ShardName.file(number, digits: digits)) {
            let key = String(name.prefix { $0 != "." })
            if samples.last?.key == key {
                samples[samples.count - 1].names.append(name)
            } else {
                samples.append(FoundSample(key: key, names: [name]))
            }
        }
        return samples
    }
}
