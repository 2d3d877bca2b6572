package import FetchQueue
package import HTTPEngine
package import RedisClient

/// What a worker has to tell while it works.
package enum WorkerReport: Sendable {
    /// The body is in its place; `file` is its path within the folder.
    case fetched(Job, Download, file: String)
    case failed(Job, FetchError)
    /// The lease was lost before the outcome was accepted: the job is another worker's now.
    case lost(Job)
    case handedBack(Job)
    /// Jobs given up because three workers had died holding them.
    case poisoned(Int)
    case redisAway(RedisError)
    case redisBack
}

/// How a worker came to its end.
package enum WorkerEnd: Sendable, Equatable {
    /// Nothing was left to do.
    case empty
    /// Asked to stop, and everything in flight had ended by itself.
    case drained
    /// Asked to stop, and what did not end in time was handed back.
    case handedBack
}

/// Why a worker cannot go on.
package enum WorkerFailure: Error, Sendable {
    case redis(RedisError)
    case output(String)
}
