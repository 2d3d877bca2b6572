import Gannet

/// The folder that bodies go to, in the words of a command.
enum WorkFolder {
    static func open(_ path: String, names: NameStyle = .hash) throws(CommandFailure) -> BodyFolder {
        do throws(OutputFailure) {
            return try BodyFolder(path, names: names)
        } catch {
            throw CommandFailure(.cannotWrite, error.description)
        }
    }

    static func identity(of lock: borrowing FolderLock) throws(CommandFailure) -> String {
        do throws(OutputFailure) {
            return try lock.identity()
        } catch {
            throw CommandFailure(.cannotWrite, error.description)
        }
    }

    /// Keeps those out of the folder who would disturb this use of it, for as long as the lock lives.
    static func lock(_ folder: BodyFolder, _ use: FolderLock.Use) throws(CommandFailure) -> FolderLock {
        do throws(OutputFailure) {
            if let lock = try FolderLock(folder, use) { return lock }
        } catch {
            throw CommandFailure(.cannotWrite, error.description)
        }
        let other = use == .alone ? "Another run, or a worker," : "A run"
        throw CommandFailure(.cannotWrite, "\(other) writes to the folder \(folder.displayPath). Wait for it, or choose another folder.")
    }
}

extension Result where Success == WorkerEnd, Failure == WorkerFailure {
    /// The end, or the failure as a command's.
    func value() throws(CommandFailure) -> WorkerEnd {
        switch self {
        case .success(let end): return end
        case .failure(let failure): throw CommandFailure(failure)
        }
    }
}
