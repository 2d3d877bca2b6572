internal import GannetBase

/// Ends what a test process started and removes its temporary files, also after a crash or `kill -9`.
///
/// It is a shell that reads a channel whose other end only this process holds. The channel ends with this process, however that ends. Then the
/// shell kills every registered process group and removes the root of the temporary folders. The parent-death signal of Linux cannot do
/// this: it fires when the *thread* that started the child ends.
///
/// A child registers itself before it becomes its program, and holds the channel until then. So a killed test process leaves no child
/// that the watchdog does not know. No test may signal a child before: stopped in that state it would hold the channel for good.
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

    /// The script that a child runs before its program. It registers its process group on descriptor 3, closes descriptor 4 as a sign of that, and
    /// changes to its working folder.
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
        _ = try spawn(["/bin/sh", "-c", Self.script, "gannet-watchdog", root], descriptors: [far, null, null])
    }

    private static var parentFolder: String {
        guard let folder = getenv("TMPDIR").map({ String(cString: $0) }), folder.hasPrefix("/"), folder.utf8.count <= 40 else {
            return "/tmp"
        }
        return folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }
}
