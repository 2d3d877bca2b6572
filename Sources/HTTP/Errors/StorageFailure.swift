internal import GannetBase

/// Why bytes could not be put on a disk, or read from it.
package struct StorageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The system refused to do `action` at `path`.
        case system(errno: Int32)
        /// The system refused that several times, so for a while it is not asked.
        case paused(errno: Int32)
        /// Larger than any file in the folder may be.
        case tooLarge
        /// The folder is at its limit, and nothing in it could be removed.
        case noRoom
        /// This process holds as many bytes of bodies as it may.
        case noMemory
        /// Something else is where one file belongs, such as a link or a folder of the user's; a whole sentence. Other files have other places.
        case placeTaken(String)
        /// Another reason, as a whole sentence; 0 where the system did not refuse anything.
        case other(String, errno: Int32 = 0)
    }

    package let reason: Reason
    /// For a refusal of the system: `write`, `open the folder`.
    package let action: String
    package let path: String

    package init(_ reason: Reason, action: String = "", path: String = "") {
        self.reason = reason
        self.action = action
        self.path = path
    }

    package init(action: String, path: String, errno: Int32) {
        self.init(.system(errno: errno), action: action, path: path)
    }

    /// Of a refusal of the system; 0 for other reasons.
    package var errno: Int32 {
        switch reason {
        case .system(let errno), .paused(let errno), .other(_, let errno): errno
        default: 0
        }
    }

    /// The file system, or the user's share of it, is full.
    package var isFullDisk: Bool {
        if case .paused = reason { return false }
        return errno == ENOSPC || errno == EDQUOT
    }

    var kind: FetchError.Kind { SystemLimit.isShortage(errno) || reason == .noMemory ? .systemLimit : .storage }

    package var isPlaceTaken: Bool {
        if case .placeTaken = reason { true } else { false }
    }

    /// Half a sentence, except for `placeTaken` and `other`.
    package var description: String {
        switch reason {
        case .system: refusal
        case .paused: "not tried again yet: \(refusal)"
        case .tooLarge: "larger than any file in the folder may be"
        case .noRoom: "the folder is full, and nothing in it could be removed"
        case .noMemory: "this process holds as many bytes of bodies as it may; try again later"
        case .placeTaken(let sentence), .other(let sentence, _): sentence
        }
    }

    /// A whole sentence.
    package var sentence: String {
        let text = description
        switch reason {
        case .placeTaken, .other: return text
        default: break
        }
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    private var refusal: String {
        let code = errno
        let reason = SystemLimit.isShortage(code) ? SystemLimit.sentence(code) : String(cString: strerror(code))
        return "cannot \(action) \(path): \(reason)"
    }
}

/// A limit of the machine or of this process. No URL is to blame.
enum SystemLimit {
    static let advice = "raise 'ulimit -n', or make fewer requests at once"

    /// Whether a system call failed for want of a file descriptor.
    static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether this process cannot open another descriptor now. A resolver, or a reader of certificates, does not say that this was its reason.
    static var lacksDescriptors: Bool {
        let one = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if one >= 0 {
            close(one)
            return false
        }
        return isShortage(errno)
    }

    static func sentence(_ code: Int32) -> String { "\(String(cString: strerror(code))); \(advice)" }
}
