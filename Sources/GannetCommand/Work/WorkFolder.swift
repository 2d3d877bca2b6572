import Crawl
import GannetHTTP
import Results

/// The folder for bodies, with a command's errors.
enum WorkFolder {
    static func open(_ path: String, names: NameStyle = .hash) throws -> BodyFolder { try BodyFolder(path, names: names) }

    /// A folder that is only read: workers put bodies into it.
    static func reading(_ path: String) throws -> BodyFolder {
        do {
            return try BodyFolder(reading: path)
        } catch {
            throw CommandFailure(.noUsableInput, CommandFailure(error).message)
        }
    }

    /// Takes the folder for results in this format, and warns of files that are named in another way.
    static func claim(_ folder: BodyFolder, _ format: OutputFormat, pictures: String = "", _ console: Console) throws {
        try folder.claim(format, pictures: pictures)
        guard format == .files, let earlier = try folder.claimNames() else { return }
        console.warn(
            "the folder \(folder.displayPath) will hold both sorts of names: its earlier files keep those of '--name \(earlier.rawValue)', and "
                + "new files get those of '--name \(folder.names.rawValue)'.")
    }

    /// Warns of a record that could not be read.
    static func warnOfLoss(in folder: RecordedFolder, _ consequence: String, _ console: Console) {
        guard let path = folder.lostRecord else { return }
        console.warn("the record of earlier commands, \(path), cannot be read and begins anew: \(consequence).")
    }

    static func warnOfDamage(_ shard: String, in folder: RecordedFolder, _ console: Console) {
        console.warn(
            "the shard \(shard) in \(folder.displayPath) is cut off. It is called \(shard).damaged now, and its rows are fetched again.")
    }

    /// Keeps other uses out of the folder for as long as the lock lives.
    static func lock(_ folder: BodyFolder, _ use: FolderLock.Use) throws -> FolderLock {
        if let lock = try FolderLock(folder, use) { return lock }
        let other = use == .alone ? "Another run, or a worker," : "A run"
        throw CommandFailure(.cannotWrite, "\(other) writes to the folder \(folder.displayPath). Wait for it, or choose another folder.")
    }
}
