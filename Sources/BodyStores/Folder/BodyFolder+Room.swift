internal import GannetBasics
package import HTTPEngine

/// A worker or a run that ends because its folder is full leaves a note there. The next one asks no origin for a body before there is more
/// room.
extension BodyFolder {
    private var roomNote: String { "\(path)/\(Self.temporaryPrefix)full" }

    /// Less than this may come and go by itself.
    private static let leastGain = 1 << 20

    /// Notes how much room is left. A symbolic link holds the number, because a full disk has no room for a file that is not empty.
    package func noteFull() {
        guard let free = freeBytes else { return }
        unlink(roomNote)
        _ = symlink("\(free)", roomNote)
    }

    /// - Throws: A full disk, where there is hardly more room than when a worker or a run ended for that reason.
    package func checkRoom() throws(StorageFailure) {
        guard let before = notedRoom, let free = freeBytes else { return }
        guard free < before + Self.leastGain else {
            unlink(roomNote)
            return
        }
        let sentence =
            "The folder \(displayPath) is still full: the last work in it ended for that reason, and there is no more room since then. "
            + "Make room for 1 MB or more, or remove \(roomNote.escapedForDisplay), and start again."
        throw StorageFailure(.other(sentence, errno: ENOSPC))
    }

    private var notedRoom: Int? {
        var text = [CChar](repeating: 0, count: 32)
        let count = readlink(roomNote, &text, text.count)
        return count > 0 ? Int(String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)) : nil
    }

    private var freeBytes: Int? {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : nil
    }
}
