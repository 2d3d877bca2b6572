/// The start of a program that shares nothing with this process but what is named here: default signals and no other descriptors.
package struct Spawn {
    package enum Group: Sendable {
        case inherited
        /// A process group of its own.
        case own
        /// A session of its own, without a terminal.
        case session
    }

    /// The program's file.
    package var executable: String
    /// The name that process lists show, then the arguments.
    package var words: [String]
    /// The whole environment, or nil for that of this process.
    package var environment: [String: String]?
    /// The child has them as descriptor 0, 1, 2 and so on.
    package var descriptors: [Int32]
    package var group: Group

    package init(_ executable: String, words: [String], environment: [String: String]?, descriptors: [Int32], group: Group) {
        self.executable = executable
        self.words = words
        self.environment = environment
        self.descriptors = descriptors
        self.group = group
    }

    /// The number of the process, or `errno` negated.
    package func start() -> pid_t {
        var attributes = Attributes(group)
        defer { posix_spawnattr_destroy(&attributes.value) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }

        // A source that has the number of another one's target would be overwritten before its turn: it is moved out of the way.
        let end = Int32(descriptors.count)
        var moved: [Int32] = []
        defer { for descriptor in moved { close(descriptor) } }
        for (target, source) in descriptors.enumerated() {
            var source = source
            if source < end, source != target {
                source = fcntl(source, F_DUPFD_CLOEXEC, end)
                guard source >= 0 else { return -errno }
                moved.append(source)
            }
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        // Also descriptors that this process inherited, such as a lock of the shell's, must not live as long as the child. Some beyond the highest are
        // closed too: another thread may be between opening a descriptor and marking it.
        for descriptor in end...max(end, Self.highestDescriptor() + 64) { posix_spawn_file_actions_addclose(&actions, descriptor) }

        let arguments = words.map { strdup($0) } + [nil]
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for one in arguments + variables { free(one) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, executable, &actions, &attributes.value, arguments, variables)
        return code == 0 ? pid : -code
    }

    private static func highestDescriptor() -> Int32 {
        guard let folder = opendir("/proc/self/fd") else { return 1024 }
        defer { closedir(folder) }
        var highest: Int32 = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            highest = max(highest, Int32(name) ?? 0)
        }
        return highest
    }
}

private struct Attributes {
    var value = posix_spawnattr_t()

    init(_ group: Spawn.Group) {
        posix_spawnattr_init(&value)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&value, &signals)
        sigfillset(&signals)
        // The two that have no other disposition than their default.
        sigdelset(&signals, SIGKILL)
        sigdelset(&signals, SIGSTOP)
        posix_spawnattr_setsigdefault(&value, &signals)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        switch group {
        case .inherited: break
        case .own:
            flags |= Int32(POSIX_SPAWN_SETPGROUP)
            posix_spawnattr_setpgroup(&value, 0)
        case .session:
            // POSIX_SPAWN_SETSID, which the Glibc module does not show; glibc and musl agree on it.
            flags |= 0x80
        }
        posix_spawnattr_setflags(&value, Int16(flags))
    }
}
