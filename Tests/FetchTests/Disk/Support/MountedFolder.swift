import Foundation
import GannetTestKit

/// A file system of its own, in memory, for what a test must not do to the machine's: fill it, or make it read-only.
///
/// It goes with this object. It is reached through a descriptor, so it can be out of everybody's sight.
final class MountedFolder: Sendable {
    private let point: TemporaryFolder
    private let descriptor: Int32
    /// Where it is, for this process.
    let path: String

    private static let detached = Int32(MNT_DETACH)

    init(bytes: Int) throws {
        point = try TemporaryFolder()
        guard mount(nil, point.path, "tmpfs", "size=\(bytes),mode=700") == 0 else { throw KitError("cannot mount: \(errno)") }
        descriptor = open(point.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        path = "/proc/self/fd/\(descriptor)"
    }

    deinit {
        hide()
        close(descriptor)
    }

    /// Takes it out of the tree of files, so that nothing is left of it even when this process is killed.
    func hide() { umount2(point.path, Self.detached) }

    /// From now on nothing can be written. To be called before it is hidden.
    func makeReadOnly() throws {
        guard mount(nil, point.path, nil, nil, flags: UInt(MS_REMOUNT) | UInt(MS_RDONLY)) == 0 else {
            throw KitError("cannot remount: \(errno)")
        }
    }

    /// Fills what is left with a file; returns its path.
    func fill() throws -> String {
        let file = "\(path)/ballast"
        let ballast = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard ballast >= 0 else { throw KitError("cannot fill: \(errno)") }
        defer { close(ballast) }
        let bytes = [UInt8](repeating: 0, count: 4096)
        while write(ballast, bytes, bytes.count) > 0 {}
        guard errno == ENOSPC else { throw KitError("cannot fill: \(errno)") }
        return file
    }
}

private func mount(_ what: String?, _ point: String, _ kind: String?, _ options: String?, flags: UInt = 0) -> Int32 {
    Glibc.mount(what ?? "none", point, kind, flags, options)
}
