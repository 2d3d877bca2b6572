import CCurl

/// The TLS sessions of all connections. A new connection to a host takes up the session of an earlier one, which spares both ends most of
/// the handshake. libcurl keeps the last eight.
final class TLSSessions {
    private let share: UnsafeMutableRawPointer

    /// Nil when there is no memory.
    init?() {
        guard let share = curl_share_init() else { return nil }
        self.share = share
        guard gannet_share_add(share, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK else {
            curl_share_cleanup(share)
            return nil
        }
    }

    deinit {
        curl_share_cleanup(share)
    }

    /// Only the engine's thread uses it, so it needs no lock.
    func serve(_ easy: UnsafeMutableRawPointer) -> CURLcode { gannet_easy_set_pointer(easy, CURLOPT_SHARE, share) }
}
