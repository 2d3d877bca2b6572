internal import CSeccomp
internal import Glibc

/// The end of a process' rights: from then on it can compute, and read and write its standard descriptors.
///
/// Any other system call ends the process at once (SIGSYS), such as `open`, `socket` or `execve`. So a picture that takes the process over finds no
/// file and no network.
package enum Sandbox {
    /// System calls without any condition: memory, threads, the time.
    private static let allowed = [
        "brk", "munmap", "mremap", "madvise", "futex", "exit", "exit_group", "rt_sigprocmask", "rt_sigreturn", "sched_yield",
        "sched_getaffinity", "set_robust_list", "rseq", "gettid", "getpid", "clock_gettime", "gettimeofday", "clock_nanosleep",
        "restart_syscall", "getrandom", "sysinfo", "setitimer",
    ]

    /// Applies to all threads of the process.
    package static func enter() throws(SandboxFailure) {
        guard let filter = seccomp_init(UInt32(SCMP_ACT_KILL_PROCESS)) else { throw SandboxFailure("libseccomp has no memory") }
        defer { seccomp_release(filter) }
        var rules = Rules(filter: filter)
        for name in allowed { try rules.allow(name) }
        try rules.allow("read", [.isEqual(0, to: 0)])
        // Standard error for the last words of a failed assertion.
        for descriptor: UInt64 in 1...2 { try rules.allow("write", [.isEqual(0, to: descriptor)]) }
        // Memory of its own that is never code. Shared memory would not count for the limit of memory.
        let shared = UInt64(MAP_SHARED)
        let anonymous = UInt64(MAP_ANONYMOUS)
        try rules.allow("mmap", [.isEqual(2, masked: UInt64(PROT_EXEC), to: 0), .isEqual(3, masked: shared | anonymous, to: anonymous)])
        try rules.allow("mprotect", [.isEqual(2, masked: UInt64(PROT_EXEC), to: 0)])
        // A thread of this process, and no process. The flags of clone3 are out of a filter's sight; glibc then takes clone.
        let thread = UInt64(CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_FILES)
        try rules.allow("clone", [.isEqual(0, masked: thread | namespaces, to: thread)])
        try rules.answer("clone3", errno: ENOSYS)
        try rules.allow("prctl", [.isEqual(0, to: UInt64(PR_SET_NAME))])
        guard seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0,
            // System calls by the numbers of another architecture.
            seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, UInt32(SCMP_ACT_KILL_PROCESS)) == 0
        else { throw SandboxFailure("a filter for all threads") }
        let code = seccomp_load(filter)
        guard code == 0 else { throw SandboxFailure("the kernel refused the filter (\(-code))") }
    }

    private static let namespaces =
        UInt64(CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)
}

/// Why a process keeps its rights. Such a process must not read a picture.
package struct SandboxFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ what: String) { description = "The sandbox cannot be entered: \(what)." }
}

private struct Rules {
    let filter: scmp_filter_ctx

    mutating func allow(_ name: String, _ conditions: [scmp_arg_cmp] = []) throws(SandboxFailure) {
        try add(name, UInt32(SCMP_ACT_ALLOW), conditions)
    }

    mutating func answer(_ name: String, errno code: Int32) throws(SandboxFailure) { try add(name, gannet_seccomp_errno(code), []) }

    private func add(_ name: String, _ action: UInt32, _ conditions: [scmp_arg_cmp]) throws(SandboxFailure) {
        let number = seccomp_syscall_resolve_name(name)
        // This machine has no such call.
        guard number >= 0 else { return }
        guard seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions) == 0 else {
            throw SandboxFailure("a rule for \(name)")
        }
    }
}

extension scmp_arg_cmp {
    fileprivate static func isEqual(_ argument: UInt32, to value: UInt64) -> scmp_arg_cmp {
        scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
    }

    fileprivate static func isEqual(_ argument: UInt32, masked mask: UInt64, to value: UInt64) -> scmp_arg_cmp {
        scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    }
}
