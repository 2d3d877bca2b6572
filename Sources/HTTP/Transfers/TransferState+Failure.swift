import CCurl
internal import GannetBase

extension TransferState {
    /// libcurl's report at the end of a hop.
    struct Ending {
        var code: CURLcode
        /// libcurl's words, possibly empty.
        var text: String
        /// The system's errno of a connection that failed; 0 without one.
        var systemError: Int32 = 0
        var sentRange = false
        /// The last hop's URL, without credentials.
        var finalURL = ""
        /// Whether the process cannot have another descriptor.
        var lacksDescriptors = false
        var isBehindProxy = false
        var followsRedirects = true
    }

    /// Why the transfer failed; nil when it succeeded.
    ///
    /// A redirect is no success either, not even one that names no place.
    func failure(_ ending: Ending) -> (kind: FetchError.Kind, detail: String)? {
        switch stop {
        case .failure(let kind, let detail): return (kind, detail)
        case .storage(let failure): return (failure.kind, failure.description)
        case .uninteresting: return (.status(status), reason(ending))
        case .cut: return nil
        case .outOfTime, nil: break
        }
        if status == 407, ending.isBehindProxy { return (.proxy, "it wants a name and a password (407)") }
        // No hop follows an error, so the status is final, even if the rest of that answer failed.
        if status >= 400 { return (.status(status), "") }

        if ending.code == CURLE_COULDNT_CONNECT, let refused = refusedAddress {
            let address = refused.address
            let fact = "\(address) is \(refused.reason.rawValue)"
            // A user should not open a network because a stranger's redirect points into it, nor a metadata service by habit.
            if isRedirected { return (.refusedAddress, "redirected to \(RedactedURL(ending.finalURL)): \(fact)") }
            if refused.reason == .metadata { return (.refusedAddress, fact) }
            return (.refusedAddress, "\(fact)\(AddressGuard.networkBegin)\(address)/\(address.bitCount)\(AddressGuard.networkEnd)")
        }
        if let shortage = shortage(ending) { return (.systemLimit, SystemLimit.sentence(shortage)) }
        let text = short(ending)
        switch FetchError.Kind(ending.code, phase: phase) {
        case nil where !isSuccess:
            return status == 0 ? (.reset, "it ended within the headers") : (.status(status), reason(ending))
        case nil where status == 206 && !ending.sentRange:
            return (.protocolError, "it sent a part (206) where the whole was asked for")
        case nil:
            guard let rest, transferredBytes < rest.total else { return nil }
            return (.truncated, "\(transferredBytes) of \(rest.total) bytes came")
        // With a proxy there is only the connection to the proxy.
        case .connect? where ending.isBehindProxy, .timeout(.connect)? where ending.isBehindProxy:
            return (.proxy, text)
        // The proxy works, but does not reach this host.
        case .proxy? where ending.text.hasPrefix("Can't complete SOCKS"):
            return (.connect, text)
        case .reset? where ending.isBehindProxy && ending.text.contains("CONNECT"):
            return (Self.isRefusal(ending.text) ? .proxy : .connect, ending.text)
        // libcurl reports malformed chunks like a lost connection.
        case .reset where ending.text.hasSuffix(" in chunked-encoding"):
            return (.protocolError, ending.text)
        // libcurl runs out of its own buffer for one header line before our limit for all of them is reached.
        case .engine where ending.code == CURLE_OUT_OF_MEMORY && phase == .response:
            return (.headersTooLarge, "one line of more than 100 KB")
        // An answer that libcurl cannot read is the answer's fault, and not the engine's.
        case .engine where ending.code != CURLE_OUT_OF_MEMORY && ending.code != CURLE_WRITE_ERROR && phase.isAfterRequest:
            return (.protocolError, ending.text)
        case .tooLarge:
            return (.tooLarge, "more than \(maximumBody.of("byte"))")
        case let kind?:
            return (kind, text)
        }
    }

    /// Whether a proxy has refused to connect to any host, or to this one, or has ended the connection. Its other answers, such as 502, say that it
    /// cannot reach the host.
    private static func isRefusal(_ text: String) -> Bool {
        text.contains("aborted") || [400, 401, 403, 405, 407, 429, 501].contains { text.contains(" \($0)") }
    }

    /// libcurl's words without the ones that the kind's sentence says already: `127.0.0.1 port 1 after 0 ms: Connection refused`.
    private func short(_ ending: Ending) -> String {
        let starts = ["Failed to connect to ", "Connection timed out ", "Operation timed out "]
        var text = ending.text
        if let start = starts.first(where: text.hasPrefix) { text.removeFirst(start.count) }
        for end in [": Couldn't connect to server", ": Could not connect to server"] where text.hasSuffix(end) {
            text.removeLast(end.count)
            if ending.systemError != 0 { text += ": " + String(cString: strerror(ending.systemError)) }
        }
        return text
    }

    /// `30 s`, `0.3 s`; from a second on in tenths.
    static func seconds(_ time: Duration) -> String {
        let unit = time < .seconds(1) ? 1.0 : 100
        let milliseconds = Int64((time / .milliseconds(1) / unit).rounded() * unit)
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
    }

    /// Why a redirect's answer is the last one.
    private func reason(_ ending: Ending) -> String { leadsOn && ending.followsRedirects ? "it named no place to go on to" : "" }

    /// The errno of a socket that could not be opened for want of descriptors, where that may be why the transfer failed.
    private func shortage(_ ending: Ending) -> Int32? {
        switch ending.code {
        case CURLE_COULDNT_CONNECT:
            if let socketError, SystemLimit.isShortage(socketError) { return socketError }
            return nil
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_SSL_CACERT_BADFILE, CURLE_FAILED_INIT:
            return ending.lacksDescriptors ? EMFILE : nil
        default:
            return nil
        }
    }
}

extension FetchError.Phase {
    /// Whether the request was on its way.
    var isAfterRequest: Bool { self == .response || self == .body }
}

extension FetchError.Kind {
    /// The one kind for a result of libcurl; nil for success. `phase` tells timeouts apart.
    init?(_ code: CURLcode, phase: FetchError.Phase) {
        switch code {
        case CURLE_OK:
            return nil
        // The URL was checked before the transfer began, so these are about a redirect's target. The first also means an answer that is not
        // HTTP, or in a version that libcurl does not speak.
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
        // For HTTP/2, libcurl also says so when a server only wants another connection to be made.
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
        // No memory, refused options, missing features, other protocols than HTTP, and codes of a newer libcurl. A write error is among them:
        // callbacks that end a transfer give their own reason. It fails this URL alone, and must not end a worker.
        default:
            self = .engine
        }
    }
}
