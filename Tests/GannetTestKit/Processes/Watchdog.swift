#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Ends what a test process started and removes its temporary files, also after a crash or `kill -9`.
///
/// It is a shell that reads a channel whose other end only this process holds. The end of the channel is the end of this process, however
/// it came; the shell then kills every process group that is still registered and removes the root of the temporary folders. The
/// parent-death signal of Linux is no way to do this: it fires when the *thread* that started the child ends.
///
/// A child registers itself, before it becomes the program it is to run, and holds the channel until it has: so there is no moment at
/// which a killed test process could leave a child that the watchdog does not know. Nobody may signal it before: stopped in
/// that state it would hold the channel for good.
struct Watchdog: Sendable {
    /// The folder above all temporary folders of this process.
    let root: String

    /// Our end of the channel.
    let channel: Int32

    private static let shared = Result { () throws(KitError) in try Watchdog() }

    /// The one watchdog of this process.
    static func started() throws(KitError) -> Watchdog {
        try shared.get()
    }

    /// What a child runs before its program: registers its process group, which has its own number, on descriptor 3, closes descriptor 4
    /// as a sign that it has, then goes where it belongs.
    static let registration = #"echo "+ $$" >&3 && exec 3>&- 4>&- && cd -- "$1" && shift && exec "$@""#

    /// Forgets a group whose processes are gone; called before the number can be given to another one.
    func forget(group: pid_t) {
        try? Socket.sendAll(Array("- \(group)\n".utf8), to: channel)
    }

    private static let script = #"""
        trap '' HUP INT QUIT TERM
        groups=' '
        while read -r change group; do
            case "$change$groups" in
            +*) groups="$groups$group " ;;
            -*" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
            esac
        done
        for group in $groups; do kill -s KILL -- "-$group"; done
        rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
        """#

    private init() throws(KitError) {
        var template = Array("\(Self.parentFolder)/gk-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .system("cannot make a temporary folder", errno) }
        root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let (near, far) = try makeChannel()
        defer { close(far) }
        channel = near
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw .system("cannot open /dev/null", errno) }
        defer { close(null) }
        _ = try Spawn(
            arguments: ["/bin/sh", "-c", Self.script, "gannet-watchdog", root], environment: nil,
            descriptors: [far, null, null]
        ).start()
    }

    private static var parentFolder: String {
        guard let folder = getenv("TMPDIR").map({ String(cString: $0) }), folder.hasPrefix("/"), folder.utf8.count <= 40 else {
            return "/tmp"
        }
        return folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }
}
