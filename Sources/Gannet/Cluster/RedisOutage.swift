internal import RedisClient

/// The beginning or the end of a time without Redis.
package enum RedisOutage: Sendable, Equatable {
    /// Without its full stop, and without advice: `Redis at redis://h: cannot be reached (Connection refused)`.
    case began(sentence: String)
    case ended

    init(_ error: RedisError?) {
        self = error.map { .began(sentence: Self.sentence($0)) } ?? .ended
    }

    /// What is the matter, in the present: whoever waits has not given up, and need not be told what to check.
    private static func sentence(_ error: RedisError) -> String {
        var unnamed = error
        unnamed.server = ""
        var text = error.kind == .unavailable && !error.detail.isEmpty ? error.detail : unnamed.description
        // One sentence is what happened; those behind it are advice.
        if let end = text.firstRange(of: ". ") { text = String(text[..<end.lowerBound]) }
        if text.hasPrefix("Redis ") { text = String(text.dropFirst("Redis ".count)) }
        if text.hasSuffix(".") { text.removeLast() }
        return (error.server.isEmpty ? "Redis" : "Redis at \(error.server)") + ": " + text
    }
}
