import GannetBase

/// Standard input, output and error, which a program may be started without.
enum StandardDescriptors {
    /// Puts something in the place of those that are closed: the next file or socket to be opened would get the number, and receive what is
    /// meant for the terminal. Reading and writing them goes on to fail as it would have.
    static func occupy() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one, since those below it are taken by now.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Nil, or the errno with which reading this standard input would fail.
    static func inputError(of descriptor: Int32) -> Int32? {
        let flags = fcntl(descriptor, F_GETFL)
        if flags < 0 { return errno }
        return flags & O_ACCMODE == O_WRONLY ? EBADF : nil
    }
}

/// The file of this program.
enum Executable {
    static var path: String { Surroundings.current.program ?? running }

    /// The file that this process runs from.
    private static var running: String {
        // The link itself is still right when the file has been replaced or removed since; the path reads better in process lists.
        let link = "/proc/self/exe"
        var (running, found) = (stat(), stat())
        guard let resolved = realpath(link, nil) else { return link }
        defer { free(resolved) }
        guard stat(link, &running) == 0, stat(resolved, &found) == 0, running.st_ino == found.st_ino, running.st_dev == found.st_dev else {
            return link
        }
        return String(cString: resolved)
    }
}

/// The number of descriptors that this process may have open at once.
struct DescriptorLimit: Sendable {
    let value: Int

    /// Redis, the input, the locks, the runtime's own, and what is open for a moment.
    static let base = 64

    /// A transfer has a socket and a file, or a resolver at work with as many of its own, and while it connects a second address's socket.
    static let each = 4

    /// Raises the process's limit as far as the system lets it; more than a million is of no use.
    static func raised() -> DescriptorLimit {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return DescriptorLimit(value: base) }
        let most = min(limit.rlim_max, 1_048_576)
        if most > limit.rlim_cur {
            var raised = limit
            raised.rlim_cur = most
            if setrlimit(resource, &raised) == 0 { return DescriptorLimit(value: Int(most)) }
        }
        return DescriptorLimit(value: Int(min(limit.rlim_cur, 1_048_576)))
    }

    func check() throws(CommandFailure) {
        guard value >= Self.base else {
            throw CommandFailure(
                .unavailable, "This process may have only \(value) files open, too few to work: raise 'ulimit -n' to \(Self.base) or more.")
        }
    }

    /// As many requests at once as are wanted, or fewer where the descriptors would not suffice.
    func fitting(_ requests: Int) -> Int { max(1, min(requests, (value - Self.base) / Self.each)) }

    static func needed(for requests: Int) -> Int { each * requests + base }

    /// Throws when so many requests at once could run out of descriptors.
    func check(concurrency: Int) throws(CommandFailure) {
        let needed = Self.needed(for: concurrency)
        guard value < needed else { return }
        let most = (value - Self.base) / Self.each
        let other = most > 0 ? "use '--concurrency \(most)' or less, or " : ""
        throw CommandFailure(
            .wrongUsage,
            "This process may have only \(value) files open, too few for \(Amounts.count(concurrency, "request")) at once: "
                + "\(other)raise 'ulimit -n' to \(needed).")
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
