/// Headers that nobody may add to a request, or not to every one.
extension HeaderField {
    /// By these HTTP frames a message and chooses whom it is for, or the engine decides what it can read.
    static let ownedByEngine: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// By these a part is asked for, or only news of what somebody has already: what is kept is the whole, and no answer to that.
    private static let ofPartsAndNews: Set<String> = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]

    package var asksForPartOrNews: Bool { Self.ofPartsAndNews.contains(name.lowercased()) }
}
