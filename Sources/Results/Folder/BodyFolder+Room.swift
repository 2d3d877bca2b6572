internal import GannetBase
package import GannetHTTP

/// A worker or a run that ends because its folder is full leaves a note there. The next one asks no origin for a body before there is more
/// room.
extension BodyFolder {
    private var roomNote: String { "\(path)/\(Self.temporaryPrefix)full" }

    /// Less than this may come and go by itself.
    private static let leastGain = 1 << 20
    private static let leastFiles = 64

    /// Notes how much room is left. A symbolic link holds the numbers of bytes and of files, because a full disk has no room for a file that is not empty.
    package func noteFull() {
        guard let free = room else { return }
        unlink(roomNote)
        _ = symlink("\(free.bytes) \(free.files)", roomNote)
    }

    /// - Throws: A full disk, where there is hardly more room than when a worker or a run ended for that reason.
    package func checkRoom() throws(StorageFailure) {
        guard let before = notedRoom, let free = room else { return }
        guard free.bytes < before.bytes + Self.leastGain, before.files == .max || free.files - before.files < Self.leastFiles else {
            unlink(roomNote)
            return
        }
        let sentence =
            "The folder \(displayPath) is still full: the last work in it ended for that reason, and there is no more room since then. "
            + "Make room for 1 MB or more and for more files, or remove \(roomNote.escapedForDisplay), and start again."
        throw StorageFailure(.other(sentence, errno: ENOSPC))
    }

    private var notedRoom: (bytes: Int, files: Int)? {
        var text = [CChar](repeating: 0, count: 64)
        let count = readlink(roomNote, &text, text.count)
        guard count > 0 else { return nil }
        let words = String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ").map { Int($0) }
        guard words.count == 2, let bytes = words[0], let files = words[1] else { return nil }
        return (bytes, files)
    }

    private var room: (bytes: Int, files: Int)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return (Int(status.f_bavail) * Int(status.f_frsize), Int(clamping: status.f_favail))
    }
}
