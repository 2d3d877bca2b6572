import CCurl

extension TransferState {
    /// So often a hop is asked again that its server left unanswered.
    static let mostNewStarts = 2

    /// Whether the hop's request came to nothing for its connection's sake, before any of an answer, and deserves a connection of its own.
    ///
    /// A server that ends a connection after so many requests refuses those that are on their way: it has not looked at them, and the URL is not
    /// to blame. libcurl sends them again by itself, but on whatever connection it has, and gives up when that happened to it five times: with HTTP/2, where
    /// dozens share a connection, that is soon. (It says `CURLE_HTTP2` where nothing else was left on the connection that ended.)
    func wasLeftUnanswered(_ code: CURLcode) -> Bool {
        guard stop == nil, phase == .response, !hasAnswer, newStarts < Self.mostNewStarts else { return false }
        switch code {
        case CURLE_HTTP2: return true
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: return isOnUsedConnection
        default: return false
        }
    }
}
