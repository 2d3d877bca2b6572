#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One `posix_spawn`: a process group of its own, default signals, and no descriptor but those it is given.
struct Spawn {
    /// The program's path, then its arguments.
    var arguments: [String]

    /// The whole environment, or nil for that of this process.
    var environment: [String: String]?

    /// What the child has as descriptor 0, 1, 2 … in this order. All are closed on exec here.
    var descriptors: [Int32]

    func start() throws(KitError) -> pid_t {
        #if canImport(Glibc)
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        #else
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }

        var flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        // The two that have no other disposition than their default.
        sigdelset(&signals, SIGKILL)
        sigdelset(&signals, SIGSTOP)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)

        // A source that has the number of another one's target would be overwritten before its turn: it is moved out of the way.
        let first = Int32(descriptors.count)
        var moved: [Int32] = []
        defer { for descriptor in moved { close(descriptor) } }
        for (target, source) in descriptors.enumerated() {
            var source = source
            if source < first && source != target {
                source = fcntl(source, F_DUPFD_CLOEXEC, first)
                guard source >= 0 else { throw .system("cannot duplicate a descriptor", errno) }
                moved.append(source)
            }
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        #if canImport(Glibc)
        // Also some beyond the highest: another thread may be between opening a descriptor and marking it.
        for descriptor in first...(first + highestDescriptor() + 64) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        #else
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let argumentPointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers { free(pointer) } }
        let environmentPointers = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] }
        defer { for pointer in environmentPointers ?? [] { free(pointer) } }

        var pid: pid_t = 0
        let status = posix_spawn(&pid, arguments[0], &actions, &attributes, argumentPointers, environmentPointers ?? currentEnvironment())
        guard status == 0 else { throw .system("cannot start \(arguments[0])", status) }
        return pid
    }

    #if canImport(Glibc)
    private func highestDescriptor() -> Int32 {
        guard let folder = opendir("/proc/self/fd") else { return 1024 }
        defer { closedir(folder) }
        var highest: Int32 = 0
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            highest = max(highest, Int32(name) ?? 0)
        }
        return highest
    }
    #endif

    private func currentEnvironment() -> [UnsafeMutablePointer<CChar>?] {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            pointers.append(entry)
            next += 1
        }
        return pointers + [nil]
    }
}
