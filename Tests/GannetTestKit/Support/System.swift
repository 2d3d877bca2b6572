internal import CEpoll
internal import GannetBase

/// Tests that need more than every machine offers, such as a file system to fill.
package enum MachineNeed {
    /// False with CI=true: there a skipped test is a failure, so that no test goes untried unseen.
    private static let mayBeMissing = getenv("CI").map { String(cString: $0) } != "true"

    /// Whether to run a test. It runs in CI also where the machine lacks the need, and fails there.
    package static func isMet(_ isOffered: Bool) -> Bool { isOffered || !mayBeMissing }

    /// Whether to run a test that needs `gannet-thumbnail`. A program with a sanitizer cannot live in its sandbox.
    #if THREAD_SANITIZER || ADDRESS_SANITIZER
    package static let canMakeThumbnails = false
    #else
    package static let canMakeThumbnails = isMet(access(Program.built("gannet-thumbnail"), X_OK) == 0)
    #endif

    /// Whether this process may mount a file system: root may, but not in most containers.
    package static let canMount: Bool = {
        guard let point = try? TemporaryFolder(), mount("none", point.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount2(point.path, Int32(MNT_DETACH)) == 0
    }()
}

func systemErrorText(_ code: Int32) -> UnsafePointer<CChar> {
    UnsafePointer(strerror(code))
}

let sendWithoutSignal = Int32(MSG_NOSIGNAL)

/// Both ends of a pipe. No child of the kit inherits them but by being given one, see `Spawn`.
func makePipe() throws(KitError) -> (read: Int32, write: Int32) {
    guard let ends = Descriptor.pipe() else { throw .system("cannot make a pipe", errno) }
    return ends
}

/// Two connected sockets whose end means something, so that not even a process started elsewhere in the same moment may hold them.
func makeChannel() throws(KitError) -> (near: Int32, far: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = SocketAddress.stream | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system("cannot make a channel", errno) }
    return (ends[0], ends[1])
}

/// To be called before a watched descriptor is closed. A process that is being started has a copy of each descriptor for a moment. Meanwhile the
/// closed one's events would still come, under a number that another thread's descriptor may have by then.
func unwatch(_ descriptor: Int32, in epoll: Int32) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
}

func closeSocket(_ descriptor: Int32) {
    close(descriptor)
}

/// Why a part of the test kit could not do its work: one sentence, with the output of the program concerned when there is any.
package struct KitError: Error, Equatable, CustomStringConvertible, Sendable {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The error of the system call that has just failed.
    static func system(_ what: String, _ code: Int32) -> KitError {
        KitError("\(what): \(String(cString: systemErrorText(code)))")
    }
}
