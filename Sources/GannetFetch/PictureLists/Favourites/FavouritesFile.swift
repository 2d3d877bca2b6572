internal import FoundationEssentials
internal import GannetBase

/// A file of favourites that processes share. All calls block.
///
/// A change is made under a lock, to the file as it is then, so no process undoes another's change. Only the holder of the lock writes, so one
/// name does for the new file, and the next writer removes what a killed one left.
struct FavouritesFile: Sendable {
    struct Content: Sendable {
        var favourites: [Favourite]
        /// Tells the file from the one that takes its place. Nil when there was no file.
        var identity: FileStatus?
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
    var identity: FileStatus? {
        var found = stat()
        return lstat(path, &found) == 0 ? FileStatus(found) : nil
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
        return FavouritesFormat.read(bytes).map { Content(favourites: $0, identity: FileStatus(found)) }
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

    private func replace(with bytes: [UInt8]) throws(FavouritesError) -> FileStatus {
        guard let written = SafeFile.replace(path, with: bytes, by: new, permissions: Self.mode) else { throw failure("written") }
        return FileStatus(written)
    }

    private func underLock<Value>(_ work: () throws(FavouritesError) -> Value) throws(FavouritesError) -> Value {
        guard let held = FileLock.take(lock, .exclusive, permissions: Self.mode, within: lockWait) else {
            let code = errno
            if code == EWOULDBLOCK {
                throw FavouritesError(.busy, path, "Another process holds '\(lock)' for too long. Try again, or end that process.")
            }
            let help = code == ENOENT ? " Make its folder first." : ""
            throw FavouritesError(.system(code), path, "The lock '\(lock)' cannot be opened: \(Descriptor.message(code)).\(help)")
        }
        return try withExtendedLifetime(held) { () throws(FavouritesError) in
            unlink(new)
            return try work()
        }
    }

    private func failure(_ verb: String) -> FavouritesError {
        let code = errno
        return FavouritesError(.system(code), path, "'\(path)' cannot be \(verb): \(Descriptor.message(code)).")
    }
}
