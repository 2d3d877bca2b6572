/// Errors of an address that begins with `redis+sentinel://`.
extension RedisError {
    /// The beginnings of the details of these errors.
    private static let unanswered = "no Sentinel answers: "
    private static let unpermitted = "a Sentinel refuses its user: "
    private static let unknownName = "the Sentinels know no primary"

    /// All Sentinels of an address fail. `error` is that of one of them.
    static func noSentinelAnswers(_ error: RedisError) -> RedisError {
        guard error.kind == .notPermitted else { return RedisError(error.kind, unanswered + error.description) }
        // The one channel is that of failovers.
        let right = error.lackingCommand ?? "&\(SentinelQuestion.channel)"
        return RedisError(.notPermitted, "\(unpermitted)\(right) is missing in the ACL rule of the user at the Sentinel \(error.server)")
    }

    /// The Sentinels that answer know no such name.
    static func unknownPrimary(_ name: String) -> RedisError { RedisError(.unresolvable, "\(unknownName) of the name '\(name)'") }

    private static let schemes = ["redis+sentinel://", "rediss+sentinel://"]

    /// The server's address names Sentinels, which named the server.
    var isBehindSentinels: Bool { Self.schemes.contains { server.hasPrefix($0) } }

    /// The description of an error that the Sentinels or their answer are the reason for; `nil` for any other.
    var sentinelDescription: String? {
        let place = server.isEmpty ? "" : " of \(server)"
        if detail.hasPrefix(Self.unknownName) {
            let rest = detail.dropFirst("the Sentinels ".count)
            return "The Sentinels\(place) \(rest). Check the name at the end of the address; 'SENTINEL MASTERS' lists the names."
        }
        if detail.hasPrefix(Self.unpermitted) {
            return "\(detail.dropFirst(Self.unpermitted.count))\(place): Docs/OPERATIONS.md has the rights of that user, under 'Sentinel'."
        }
        if detail.hasPrefix(Self.unanswered) {
            return "No Sentinel\(place) answers: \(Self.ofOneSentinel(String(detail.dropFirst(Self.unanswered.count))))"
        }
        guard isBehindSentinels else { return nil }
        let shown = detail.isEmpty ? "" : " (\(detail))"
        switch kind {
        case .unresolvable:
            return "The primary that \(server) names cannot be found\(shown). Check the address that the Sentinels have for it."
        case .unreachable:
            return
                "The primary that \(server) names cannot be reached\(shown). A failover may be under way: try again in a moment. If it lasts, check that the primary runs and listens at the address that the Sentinels have."
        default: return nil
        }
    }

    /// The sentences about one Sentinel, inside a sentence about all of them.
    private static func ofOneSentinel(_ text: String) -> String {
        let redis = "Redis at "
        if text.hasPrefix(redis) { return "the Sentinel at " + text.dropFirst(redis.count) }
        let (server, article) = ("The server at ", "A server of ")
        if text.hasPrefix(server) { return "the server at " + text.dropFirst(server.count) }
        if text.hasPrefix(article) { return "a server of " + text.dropFirst(article.count) + " Name the Sentinels, with their ports." }
        return text
    }
}
