internal import GannetBase
internal import GannetHTTP

/// Writes samples into numbered tar files, as webdataset reads them. Docs/ARCHIVES.md says what the files are.
///
/// Any thread may call it, and calls go one after another. A shard has its name without `.open` only when all of it is on the disk, and then it is
/// never touched again. The samples of an open shard are the caller's to repeat: a kill, or a failed write, takes the whole shard.
package final class ShardWriter: Sendable {
    /// The name of a part without its key, such as `jpg`, `txt` or `seg.png`, and its bytes.
    package typealias Part = (ending: String, content: ArchiveContent)

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

    let folder: String
    private let samples: Int
    private let state: Mutex<State>

    /// A shard ends earlier when it has so many bytes.
    private static let mostBytes = 8_000_000_000

    /// Removes shards that an earlier run has left open, and goes on behind the last number in the folder.
    ///
    /// One writer at a time may use a folder. A shard that another process has open is found and refused.
    /// - Parameter samples: The most in a shard.
    package init(folder: String, samples: Int) throws {
        (self.folder, self.samples) = (folder, samples)
        var next = 0
        for name in try ArchiveFolder.names(in: folder) {
            guard let found = Self.number(ofFile: name) else { continue }
            guard found.isOpen else {
                next = max(next, found.number + 1)
                continue
            }
            let left = try OpenedFile(folder + "/" + name, O_RDWR)
            guard left.lock() else {
                throw StorageFailure.foreign(left.path, "is another process' open shard. Wait for its end, or use another folder.")
            }
            try ArchiveFolder.remove(left.path)
        }
        state = Mutex(State(next: next))
    }

    // MARK: Writing

    /// Adds a sample to the open shard, or begins a shard with it.
    ///
    /// Names that readers would take apart otherwise are refused, and the shard goes on. Any other error takes the open shard: all its samples are the
    /// caller's to repeat, and the next sample begins a new file of the same number.
    /// - Parameters:
    ///   - key: Letters, digits, `-` and `_`. It begins with a letter or digit, because readers skip names with `__` in front.
    ///   - parts: In this order in the file.
    /// - Returns: The number of the shard, and whether this sample has completed it. Then all samples of it are durable.
    package func add(_ key: String, _ parts: [Part]) throws -> (shard: Int, isComplete: Bool) {
        let names = try Self.names(of: key, parts.map(\.ending))
        return try state.withLock { state in
            if state.isClosed { throw StorageFailure("The shards are closed.") }
            if state.shard == nil { try begin(&state) }
            guard var shard = state.shard.take() else { throw StorageFailure("There is no shard.") }
            guard shard.keys.insert(key).inserted else {
                state.shard = shard
                throw StorageFailure("The key \(key) is in shard \(shard.number) already.")
            }
            do {
                for (name, part) in zip(names, parts) { try shard.tar.add(name, part.content) }
                let isFull = shard.keys.count >= samples || shard.tar.size >= Self.mostBytes
                if isFull { try complete(shard, &state) } else { state.shard = shard }
                return (shard.number, isFull)
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

    private func begin(_ state: inout State) throws {
        let file = try OpenedFile("\(folder)/\(Self.fileName(state.next))\(ArchiveFolder.open)", O_RDWR | O_CREAT | O_EXCL)
        guard file.lock() else { throw StorageFailure.ofArchive("locked", file.path) }
        state.shard = OpenShard(number: state.next, tar: try TarFile(file))
    }

    private func complete(_ shard: OpenShard, _ state: inout State) throws {
        let shard = shard
        try shard.tar.end()
        try shard.tar.file.sync()
        let path = "\(folder)/\(Self.fileName(shard.number))"
        guard fileStatus(path) == nil else {
            throw StorageFailure.foreign(path, "has come into the folder meanwhile. Move it elsewhere.")
        }
        try ArchiveFolder.rename(shard.tar.file.path, to: path)
        state.next = shard.number + 1
        try ArchiveFolder.sync(folder)
    }

    // MARK: Reading

    /// The numbers of the complete shards in a folder, sorted.
    package static func shards(in folder: String) throws -> [Int] {
        try ArchiveFolder.names(in: folder).compactMap { Self.number(ofFile: $0) }.filter { !$0.isOpen }.map(\.number).sorted()
    }

    /// The samples of a complete shard in their order, each with the names of its parts.
    ///
    /// A run that was killed between the end of a shard and its own record of that asks here which samples it need not repeat.
    package static func samples(inShard number: Int, of folder: String) throws -> [(key: String, names: [String])] {
        var samples: [(key: String, names: [String])] = []
        for name in try TarFile.names(in: "\(folder)/\(Self.fileName(number))") {
            let key = String(name.prefix { $0 != "." })
            if samples.last?.key != key { samples.append((key, [])) }
            samples[samples.count - 1].names.append(name)
        }
        return samples
    }
}

/// Names inside and outside of shards.
extension ShardWriter {
    private static let ending = ".tar"

    /// The names of a sample's files, or why readers would not take them for one sample.
    static func names(of key: String, _ endings: [String]) throws -> [String] {
        guard isPlain(key), let first = key.utf8.first, first != UInt8(ascii: "_"), first != UInt8(ascii: "-") else {
            throw StorageFailure(
                "The key \(key.prefix(100).debugDescription) may have letters, digits, - and _ alone, and begins with a letter or digit.")
        }
        guard !endings.isEmpty else { throw StorageFailure("The sample \(key) has no parts.") }
        var seen: Set<String> = []
        return try endings.map { ending in
            let words = ending.split(separator: ".", omittingEmptySubsequences: false)
            guard words.allSatisfy({ isPlain($0) }), ending == ending.lowercased(), seen.insert(ending).inserted else {
                throw StorageFailure(
                    "The ending \(ending.prefix(100).debugDescription) of \(key) may have small letters, digits, - and _ between dots, once."
                )
            }
            let name = "\(key).\(ending)"
            // A longer one would take a second header in the tar format.
            guard name.utf8.count <= 100 else { throw StorageFailure("The name \(name.prefix(120)) is longer than 100 bytes.") }
            return name
        }
    }

    private static func isPlain(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isPlain) }

    static func fileName(_ number: Int) -> String { ArchiveFolder.digits(number) + ending }

    /// The number of a shard's file, complete or open; nil for other names.
    static func number(ofFile name: String) -> (number: Int, isOpen: Bool)? {
        let isOpen = name.hasSuffix(ending + ArchiveFolder.open)
        guard let digits = ArchiveFolder.middle(of: name, from: "", to: isOpen ? ending + ArchiveFolder.open : ending),
            1...15 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(digits)
        else { return nil }
        return (number, isOpen)
    }
}
