import CCurl

extension FetchError.Kind {
    /// The one kind that a libcurl result stands for; nil for success. `phase` tells timeouts apart.
    init?(_ code: CURLcode, phase: FetchError.Phase) {
        switch code {
        case CURLE_OK:
            return nil
        // The URL was checked before the transfer began, so these come from where a redirect led. The first also means an answer in a
        // version of HTTP that libcurl does not speak, or in none.
        case CURLE_UNSUPPORTED_PROTOCOL where phase != .resolve:
            self = .protocolError
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
            self = .refusedRedirect
        case CURLE_TOO_MANY_REDIRECTS:
            self = .tooManyRedirects
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .dns(.serverFailed)
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE, CURLE_QUIC_CONNECT_ERROR:
            self = .connect
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            self = .proxy
        case CURLE_OPERATION_TIMEDOUT:
            self = .timeout(phase)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            self = .tls
        // Of HTTP/2 libcurl says the same when a server only wants another connection to be made.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_AGAIN, CURLE_SEND_FAIL_REWIND:
            self = .reset
        case CURLE_PARTIAL_FILE:
            self = .truncated
        case CURLE_FILESIZE_EXCEEDED:
            self = .tooLarge
        case CURLE_BAD_CONTENT_ENCODING:
            self = .badEncoding
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP3, CURLE_HTTP_RETURNED_ERROR, CURLE_RANGE_ERROR,
            CURLE_BAD_DOWNLOAD_RESUME, CURLE_REMOTE_ACCESS_DENIED, CURLE_REMOTE_FILE_NOT_FOUND, CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR:
            self = .protocolError
        case CURLE_ABORTED_BY_CALLBACK:
            self = .cancelled
        // A write error among them: what our callbacks end, and above all a file that cannot be written, they give their own reason for.
        // Anything else is this URL's, and must not end a worker. No memory, options refused, features missing, other protocols than HTTP, and what a newer libcurl may add.
        default:
            self = .engine
        }
    }
}
