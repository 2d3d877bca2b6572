internal import FoundationEssentials
internal import GannetBase

/// A file of favourites that processes share. All calls block.
///
/// A change is made under a lock, to the file as it is then, so no process undoes another's change. The new file is written beside the old
/// one, flushed, and renamed: there is always one whole file, whenever a process is killed. Only the holder of the lock writes, so one name
/// does for the new file, and the next writer removes what a killed one left.
struct FavouritesFile: Sendable {
    /// Tells a file from the one that takes its place.
    struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    struct Content: Sendable {
        var favourites: [Favourite]
        /// Nil when there was no file.
        var identity: Identity?
    }

    let path: String
    let mostFavourites: Int
    let mostBytes: Int
    let lockWait: Duration

    /// For the owner alone, whatever the mode of the file before: an `id` may be a URL with a password.
    private static let mode: mode_t = 0o600

    private var new: String { path + ".new" }
    private var lock: String { path + ".lock" }

    /// The identity of the file as it is; nil when there is none, or it cannot be looked at.
    var identity: Identity? {
        var found = stat()
        return lstat(path, &found) == 0 ? Identity(found) : nil
    }

    /// A file that is damaged is set aside.
    func read() throws(FavouritesError) -> Content {
        if let content = try peek() { return content }
        return try underLock { () throws(FavouritesError) in try readOrSetAside() }
    }

    /// The content as it is; nil when it is damaged.
    func peek() throws(FavouritesError) -> Content? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return Content(favourites: []) }
            if errno == ELOOP { throw FavouritesError(.system(ELOOP), path, "'\(path)' is a symbolic link: name the file itself.") }
            throw failure("read")
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw failure("read") }
        guard found.st_mode & S_IFMT == S_IFREG else { throw FavouritesError(.system(EINVAL), path, "'\(path)' is no file. Name another.") }
        guard found.st_size <= mostBytes else { return nil }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: Int(found.st_size)) else { throw failure("read") }
        return FavouritesFormat.read(bytes).map { Content(favourites: $0, identity: Identity(found)) }
    }

    /// Changes the file. Nothing is written when `edit` answers that nothing has changed.
    func change(_ edit: (inout [Favourite]) -> Bool) throws(FavouritesError) -> Content {
        try underLock { () throws(FavouritesError) in
            let before = try readOrSetAside()
            var favourites = before.favourites
            guard edit(&favourites) else { return before }
            let bytes = FavouritesFormat.bytes(favourites)
            // Fewer are always welcome, also where another process permits more.
            guard favourites.count < before.favourites.count || favourites.count <= mostFavourites && bytes.count <= mostBytes else {
                if let new = favourites.last, let most = mostBytes(of: new) {
                    throw FavouritesError(
                        .tooLarge, path,
                        "This favourite is too large for '\(path)': its id may take \(most) bytes there. Give it a shorter id.")
                }
                throw FavouritesError(
                    .full, path, "'\(path)' is full: it may hold \(mostFavourites) favourites in \(mostBytes) bytes. Remove some first.")
            }
            return Content(favourites: favourites, identity: try replace(with: bytes))
        }
    }

    /// The bytes that the id may take in the file, where the favourite alone takes more than the whole file may; nil for others.
    private func mostBytes(of favourite: Favourite) -> Int? {
        guard FavouritesFormat.bytes([favourite]).count > mostBytes else { return nil }
        return max(0, mostBytes - FavouritesFormat.bytes([Favourite("", added: favourite.added)]).count)
    }

    private func readOrSetAside() throws(FavouritesError) -> Content {
        if let content = try peek() { return content }
        for number in 1...99 {
            let aside = "\(path).damaged-\(number)"
            var found = stat()
            if lstat(aside, &found) == 0 { continue }
            guard rename(path, aside) == 0 else { throw failure("set aside") }
            makePrivate(aside)
            throw FavouritesError(
                .damaged(keptAs: URL(filePath: aside)), path,
                "'\(path)' did not hold favourites, or too many. It is now '\(aside)', and the favourites begin anew.")
        }
        throw FavouritesError(
            .system(EEXIST), path,
            "'\(path)' does not hold favourites, and 99 damaged files lie beside it. Remove them, or name another file.")
    }

    /// Best effort: the file may be another user's.
    private func makePrivate(_ aside: String) {
        let descriptor = open(aside, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, Self.mode)
        close(descriptor)
    }

    private func replace(with bytes: [UInt8]) throws(FavouritesError) -> Identity {
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, Self.mode)
        guard descriptor >= 0 else { throw failure("written") }
        defer { close(descriptor) }
        var written = stat()
        guard Descriptor.write(bytes, to: descriptor, at: 0), fsync(descriptor) == 0, fstat(descriptor, &written) == 0,
            rename(new, path) == 0
        else {
            let error = failure("written")
            unlink(new)
            throw error
        }
        // So that the new name outlives a power cut. Some file systems cannot flush a folder, and the change is made all the same.
        let folder = open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return Identity(written)
    }

    private var folderPath: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func underLock<Value>(_ work: () throws(FavouritesError) -> Value) throws(FavouritesError) -> Value {
        let descriptor = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, Self.mode)
        guard descriptor >= 0 else {
            let code = errno
            let help = code == ENOENT ? " Make its folder first." : ""
            throw FavouritesError(.system(code), path, "The lock '\(lock)' cannot be opened: \(Descriptor.message(code)).\(help)")
        }
        // The file stays: a process that waits for a removed file's lock would wait beside the others.
        defer { close(descriptor) }
        let end = ContinuousClock.now + lockWait
        // A `flock` that waits cannot be given a bound, and a process may be stopped while it holds the lock.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("locked") }
            guard ContinuousClock.now < end else {
                throw FavouritesError(.busy, path, "Another process holds '\(lock)' for too long. Try again, or end that process.")
            }
            usleep(1000)
        }
        unlink(new)
        return try work()
    }

    private func failure(_ verb: String) -> FavouritesError {
        let code = errno
        return FavouritesError(.system(code), path, "'\(path)' cannot be \(verb): \(Descriptor.message(code)).")
    }
}

extension FavouritesFile.Identity {
    init(_ found: stat) {
        device = UInt64(truncatingIfNeeded: found.st_dev)
        number = UInt64(truncatingIfNeeded: found.st_ino)
        size = Int64(found.st_size)
        seconds = Int(found.modification.tv_sec)
        nanoseconds = Int(found.modification.tv_nsec)
    }
}
