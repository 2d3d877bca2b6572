import Gannet

/// The folder for bodies, with a command's errors.
enum WorkFolder {
    static func open(_ path: String, names: NameStyle = .hash) throws(CommandFailure) -> BodyFolder {
        do throws(OutputFailure) {
            return try BodyFolder(path, names: names)
        } catch {
            throw CommandFailure(.cannotWrite, error.description)
        }
    }

    /// A folder that is only read: workers put bodies into it.
    static func reading(_ path: String) throws(CommandFailure) -> BodyFolder {
        do throws(OutputFailure) {
            return try BodyFolder(reading: path)
        } catch {
            throw CommandFailure(.noUsableInput, error.description)
        }
    }

    static func identity(of lock: borrowing FolderLock) throws(CommandFailure) -> String {
        do throws(OutputFailure) {
            return try lock.identity()
        } catch {
            throw CommandFailure(.cannotWrite, error.description)
        }
    }

    /// Keeps other uses out of the folder for as long as the lock lives.
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
