import GannetBasics

/// Starts a program that shares nothing with us but what is named here: no terminal, no standard streams, no descriptors, default signals.
enum Spawn {
    struct Failure: Error {
        let code: Int32
    }

    /// `name` is what process lists show. Descriptors arrive in the child as 3, 4, … in the order given. Output goes to the end of a file, or nowhere;
    /// so do errors, unless there is a descriptor for them, which must not be a standard one.
    static func start(
        _ executable: String, as name: String, arguments: [String], environment: [String: String], output: String = "/dev/null",
        errors: Int32? = nil, descriptors: [Int32] = [], inNewSession: Bool
    ) throws(Failure) -> pid_t {
        // The descriptors may lie where others are about to be put: first out of the way, then into place.
        let base: Int32 = 64
        let high = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, base) }
        defer { for one in high where one >= 0 { close(one) } }
        guard high.allSatisfy({ $0 >= 0 }) else { throw Failure(code: errno) }

        var actions = FileActions()
        actions.open(0, "/dev/null", O_RDONLY)
        actions.open(1, output, O_WRONLY | O_CREAT | O_APPEND)
        actions.duplicate(errors ?? 1, as: 2)
        for (offset, one) in high.enumerated() { actions.duplicate(one, as: Int32(3 + offset)) }
        actions.closeAll(from: Int32(3 + high.count))
        defer { actions.destroy() }

        var attributes = SpawnAttributes(inNewSession: inNewSession)
        defer { attributes.destroy() }

        let words = ([name] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for one in words + variables { free(one) } }

        var pid = pid_t()
        let code = posix_spawn(&pid, executable, &actions.value, &attributes.value, words, variables)
        guard code == 0 else { throw Failure(code: code) }
        return pid
    }
}

private struct FileActions {
    #if canImport(Darwin)
    var value: posix_spawn_file_actions_t?
    #else
    var value = posix_spawn_file_actions_t()
    #endif

    init() {
        posix_spawn_file_actions_init(&value)
    }

    mutating func open(_ descriptor: Int32, _ path: String, _ flags: Int32) {
        posix_spawn_file_actions_addopen(&value, descriptor, path, flags, 0o600)
    }

    mutating func duplicate(_ descriptor: Int32, as other: Int32) {
        posix_spawn_file_actions_adddup2(&value, descriptor, other)
    }

    /// Descriptors that we ourselves inherited, such as a lock of the shell's, must not live as long as the child.
    mutating func closeAll(from first: Int32) {
        #if !canImport(Darwin)
        guard let folder = opendir("/proc/self/fd") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            guard let descriptor = Int32(name), descriptor >= first, fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0 else { continue }
            posix_spawn_file_actions_addclose(&value, descriptor)
        }
        #endif
    }

    mutating func destroy() {
        posix_spawn_file_actions_destroy(&value)
    }
}

private struct SpawnAttributes {
    #if canImport(Darwin)
    var value: posix_spawnattr_t?
    #else
    var value = posix_spawnattr_t()
    #endif

    init(inNewSession: Bool) {
        posix_spawnattr_init(&value)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&value, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&value, &signals)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
        if inNewSession { flags |= Int32(POSIX_SPAWN_SETSID) }
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        // POSIX_SPAWN_SETSID, which the Glibc module does not show; glibc and musl agree on it.
        if inNewSession { flags |= 0x80 }
        #endif
        posix_spawnattr_setflags(&value, Int16(flags))
    }

    mutating func destroy() {
        posix_spawnattr_destroy(&value)
    }
}
