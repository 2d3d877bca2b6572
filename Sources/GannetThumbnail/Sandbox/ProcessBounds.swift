internal import CSeccomp
internal import Glibc

/// The bounds of a process that reads strangers' pictures.
package enum ProcessBounds {
    /// Before memory is asked for in earnest: one arena, because glibc looks at a file before it gives memory of another one back.
    package static func takeOneArena() { _ = gannet_one_arena() }

    /// Memory and processor time from now on.
    /// - Parameters:
    ///   - memory: Bytes beyond those that the process has. The kernel counts all memory of its own that may be written.
    ///   - seconds: Of processor time, for a process whose parent is gone.
    package static func set(memory: Int, seconds: Int) throws(SandboxFailure) {
        let pages = try ownPages()
        try limit(RLIMIT_DATA, UInt(pages * sysconf(Int32(_SC_PAGESIZE)) + memory))
        try limit(RLIMIT_CPU, UInt(seconds))
        // A picture's bytes stay out of files of crashes.
        try limit(RLIMIT_CORE, 0)
        guard gannet_seccomp_hide() == 0 else { throw SandboxFailure("prctl") }
    }

    /// Ends the process when it has computed for this long from now on; zero takes the bound back.
    package static func setTime(milliseconds: Int) {
        let time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        var timer = itimerval(it_interval: timeval(), it_value: time)
        setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    private static func limit(_ resource: __rlimit_resource, _ value: UInt) throws(SandboxFailure) {
        var bounds = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 else { throw SandboxFailure("getrlimit") }
        let value = min(value, bounds.rlim_max)
        bounds = rlimit(rlim_cur: value, rlim_max: value)
        guard setrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 else { throw SandboxFailure("setrlimit") }
    }

    /// The pages of memory of its own, as the kernel counts them for the limit.
    private static func ownPages() throws(SandboxFailure) -> Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SandboxFailure("/proc/self/statm") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        guard words.count > 5, let pages = Int(words[5]) else { throw SandboxFailure("/proc/self/statm") }
        return pages
    }
}
