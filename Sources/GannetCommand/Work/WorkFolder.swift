import BodyStores
import Gannet
import HTTPEngine

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

    /// Warns of a record that could not be read.
    static func warnOfLoss(in folder: RecordedFolder, _ consequence: String, _ console: Console) {
        guard let path = folder.lostRecord else { return }
        console.warn("the record of earlier commands, \(path), cannot be read and begins anew: \(consequence).")
    }

    /// Keeps other uses out of the folder for as long as the lock lives.
    static func lock(_ folder: BodyFolder, _ use: FolderLock.Use) throws -> FolderLock {
        if let lock = try FolderLock(folder, use) { return lock }
        let other = use == .alone ? "Another run, or a worker," : "A run"
        throw CommandFailure(.cannotWrite, "\(other) writes to the folder \(folder.displayPath). Wait for it, or choose another folder.")
    }
}
