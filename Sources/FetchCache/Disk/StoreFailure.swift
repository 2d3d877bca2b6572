package import HTTPEngine

/// Why something is not on the disk that should be. A cache goes on without it.
package enum StoreFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The system refused.
    case system(StorageFailure)
    /// The system refused this several times, so for a while it is not asked.
    case paused(StorageFailure)
    /// The file that was to be taken over cannot be read.
    case source(StorageFailure)
    /// Too many writes wait already, or there is no thread for them.
    case crowded
    /// Larger than anything in the folder may be.
    case tooLarge
    /// The folder is at its limit, and nothing in it could be removed.
    case noRoom
    /// The bytes are not those of the digest they were given with.
    case wrongDigest
    /// The caller was cancelled.
    case cancelled

    package var description: String {
        switch self {
        case .system(let failure): "\(failure)"
        case .source(let failure): "\(failure)"
        case .paused(let failure): "not tried again yet: \(failure)"
        case .crowded: "too many writes wait for the disk"
        case .tooLarge: "larger than anything in the folder may be"
        case .noRoom: "the folder is full, and nothing in it could be removed"
        case .wrongDigest: "the bytes are not those of the digest"
        case .cancelled: "cancelled"
        }
    }
}
