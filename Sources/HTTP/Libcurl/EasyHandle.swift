import CCurl
internal import COpenSSL
internal import GannetBase

/// One libcurl easy handle, configured once and used for many transfers, one at a time.
///
/// `begin` sets every option that differs between transfers, or between the hops of one, so that nothing of one can appear in the next.
final class EasyHandle {
    let easy: UnsafeMutableRawPointer
    let hasher: SHA256Hasher
    let connections: Connections
    let speedLimit: SpeedLimit?
    private let sessions: TLSSessions
    /// Nil while the handle is spare.
    private(set) var transfer: Transfer?
    private let errorText: UnsafeMutablePointer<CChar>
    /// The current transfer's own headers, if it has any.
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let usualHeaders: UnsafeMutablePointer<curl_slist>?
    private var addresses: UnsafeMutablePointer<curl_slist>?
    /// Whether libcurl reports what it sends.
    private var reportsRequests = false

    /// Nil when libcurl has no memory or lacks an option that safety depends on.
    /// - Parameter connections: Lives as long as any connection.
    init?(
        _ settings: EngineSettings, _ connections: Connections, _ sessions: TLSSessions, _ speedLimit: SpeedLimit?, _ hasher: SHA256Hasher,
        receiveBuffer: Int
    ) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.connections = connections
        self.sessions = sessions
        self.speedLimit = speedLimit
        self.hasher = hasher
        usualHeaders = curl_slist_append(nil, "Accept-Encoding: gzip, deflate, br, zstd")
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard usualHeaders != nil, configure(settings, receiveBuffer) else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        curl_slist_free_all(usualHeaders)
        curl_slist_free_all(addresses)
        errorText.deallocate()
    }

    /// Makes the handle ready for the transfer's current hop; false when there is no memory.
    /// - Parameter names: Host names that libcurl is told, or told to forget, in its notation.
    func begin(_ transfer: Transfer, names: [String]) -> Bool {
        self.transfer = transfer
        errorText[0] = 0
        let own = transfer.requestHeaders
        if !own.isEmpty {
            // A part of an encoded body cannot be decoded.
            let encodings = transfer.asksForPart ? "identity" : "gzip, deflate, br, zstd"
            guard append("Accept-Encoding: \(encodings)", to: &headers), own.allSatisfy({ append($0.curlLine, to: &headers) })
            else { return false }
        }
        guard names.allSatisfy({ append($0, to: &addresses) }), report(requests: transfer.wire != nil) else { return false }
        return gannet_easy_set_list(easy, CURLOPT_HTTPHEADER, headers ?? usualHeaders) == CURLE_OK
            && gannet_easy_set_list(easy, CURLOPT_RESOLVE, addresses) == CURLE_OK
            && gannet_easy_set_string(easy, CURLOPT_URL, transfer.target.origin) == CURLE_OK
            && gannet_easy_set_string(easy, CURLOPT_REQUEST_TARGET, transfer.requestTarget) == CURLE_OK
            && gannet_easy_set_long(easy, CURLOPT_FRESH_CONNECT, 0) == CURLE_OK
            && gannet_easy_set_long(easy, CURLOPT_FORBID_REUSE, 0) == CURLE_OK
            && gannet_easy_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, transfer.timeLeft.milliseconds)) == CURLE_OK
    }

    private func report(requests: Bool) -> Bool {
        if requests == reportsRequests { return true }
        reportsRequests = requests
        return gannet_easy_set_pointer(easy, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque()) == CURLE_OK
            && gannet_easy_on_debug(easy, receiveDebug) == CURLE_OK
            && gannet_easy_set_long(easy, CURLOPT_VERBOSE, requests ? 1 : 0) == CURLE_OK
    }

    /// As the registry of TLS protocols (ALPN) names it.
    var protocolName: String {
        switch number(CURLINFO_HTTP_VERSION) {
        case CURL_HTTP_VERSION_1_0: "http/1.0"
        case CURL_HTTP_VERSION_2_0: "h2"
        case CURL_HTTP_VERSION_3: "h3"
        default: "http/1.1"
        }
    }

    /// Makes the same request once more, and not on a connection that was used before.
    func repeatOnNewConnection(within time: Duration) -> Bool {
        errorText[0] = 0
        return gannet_easy_set_long(easy, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK
            && gannet_easy_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, time.milliseconds)) == CURLE_OK
    }

    /// libcurl has no part in the time of a body: the engine looks whether it moves. A later request sets the time again.
    func liftTimeout() { _ = gannet_easy_set_long(easy, CURLOPT_TIMEOUT_MS, 0) }

    /// How many bytes were read from a connection whose answers come one after the other; nil for HTTP/2.
    func readBytes(_ ends: Connections.Ends) -> UInt64? {
        number(CURLINFO_HTTP_VERSION) < CURL_HTTP_VERSION_2_0 ? connections.readBytes(ends) : nil
    }

    /// libcurl sends a request under TLS from a buffer that it keeps for an upload until the transfer's end. 16 KB is the least.
    private static let sendBuffer = 16 << 10

    /// Frees the buffers of a request under TLS that has gone as a whole. They come back when they are needed.
    func dropIdleBuffers() {
        // Setting the size frees it.
        _ = gannet_easy_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, Self.sendBuffer)
        if let session = gannet_easy_session(easy) { SSL_free_buffers(OpaquePointer(session)) }
    }

    /// Has the connection closed when the transfer ends.
    func forbidReuse() { _ = gannet_easy_set_long(easy, CURLOPT_FORBID_REUSE, 1) }

    /// Forgets the transfer.
    func end() {
        transfer = nil
        if headers != nil {
            _ = gannet_easy_set_list(easy, CURLOPT_HTTPHEADER, nil)
            curl_slist_free_all(headers)
            headers = nil
        }
        if addresses != nil {
            _ = gannet_easy_set_list(easy, CURLOPT_RESOLVE, nil)
            curl_slist_free_all(addresses)
            addresses = nil
        }
    }

    func text(for code: CURLcode) -> String {
        errorText[0] != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(code))
    }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return gannet_easy_get_long(easy, info, &value) == CURLE_OK ? value : 0
    }

    private func time(_ info: CURLINFO) -> Duration {
        var value: curl_off_t = 0
        return gannet_easy_get_offset(easy, info, &value) == CURLE_OK ? .microseconds(Int64(value)) : .zero
    }

    /// Adds libcurl's times of the current transfer.
    func report(_ times: inout HopTimes) {
        times.connected = time(CURLINFO_CONNECT_TIME_T)
        times.handshaken = time(CURLINFO_APPCONNECT_TIME_T)
        times.requested = time(CURLINFO_PRETRANSFER_TIME_T)
        times.answered = time(CURLINFO_STARTTRANSFER_TIME_T)
    }

    /// The handle behind a pointer that libcurl hands to a callback.
    static func from(_ pointer: UnsafeMutableRawPointer?) -> EasyHandle? {
        pointer.map { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    private func append(_ line: String, to list: inout UnsafeMutablePointer<curl_slist>?) -> Bool {
        guard let longer = curl_slist_append(list, line) else { return false }
        list = longer
        return true
    }

    private func configure(_ settings: EngineSettings, _ receiveBuffer: Int) -> Bool {
        let me = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            gannet_easy_allow_http_only(easy),
            gannet_easy_leave_resolver_behind(easy),
            gannet_easy_set_pointer(easy, CURLOPT_PRIVATE, me),
            gannet_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText),
            // Signals would hit any thread, and the environment must not choose the proxy.
            gannet_easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
            gannet_easy_set_string(easy, CURLOPT_PROXY, settings.proxy?.url ?? ""),
            gannet_easy_set_string(easy, CURLOPT_NOPROXY, ""),

            // A paused stream of HTTP/2 would hold up the others of its connection, and libcurl would keep what comes for it in memory.
            gannet_easy_set_long(
                easy, CURLOPT_HTTP_VERSION, Int(speedLimit == nil ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)),
            // With it, all requests of a silent host would wait until it has said which version it speaks.
            gannet_easy_set_long(easy, CURLOPT_PIPEWAIT, 0),
            // libcurl takes a compressed body that was cut for a whole one, so the engine decodes it.
            gannet_easy_set_string(easy, CURLOPT_ACCEPT_ENCODING, nil),
            gannet_easy_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0),
            gannet_easy_set_string(easy, CURLOPT_USERAGENT, settings.fetch.userAgent ?? FetchSettings.defaultUserAgent),
            gannet_easy_set_long(easy, CURLOPT_BUFFERSIZE, receiveBuffer),
            gannet_easy_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, Self.sendBuffer),
            // The engine itself looks up, checks and reports each hop.
            gannet_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0),

            gannet_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, settings.fetch.connectTimeout.milliseconds),
            // Idle ones make room for others after this.
            gannet_easy_set_long(easy, CURLOPT_MAXAGE_CONN, 30),
            // The engine tells it names, and when to forget them.
            gannet_easy_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, 24 * 3600),

            gannet_easy_set_pointer(easy, CURLOPT_WRITEDATA, me),
            gannet_easy_on_write(easy, receiveBody),
            gannet_easy_set_pointer(easy, CURLOPT_HEADERDATA, me),
            gannet_easy_on_header(easy, receiveHeader),
            gannet_easy_set_pointer(easy, CURLOPT_OPENSOCKETDATA, me),
            gannet_easy_on_open_socket(easy, openSocket),
            // A connection outlives the handle that made it.
            gannet_easy_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(connections).toOpaque()),
            gannet_easy_on_close_socket(easy, closeSocket),
            gannet_easy_set_pointer(easy, CURLOPT_PREREQDATA, me),
            gannet_easy_on_request(easy, requestStarts),
        ]
        return codes.allSatisfy { $0 == CURLE_OK } && configureTrust(settings)
    }

    private func configureTrust(_ settings: EngineSettings) -> Bool {
        var codes = [
            gannet_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1),
            gannet_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2),
            sessions.serve(easy),
        ]
        // A folder of authorities would be trusted beside the file, and keeps libcurl from parsing the file only once.
        if let file = settings.fetch.caFile {
            codes.append(gannet_easy_set_string(easy, CURLOPT_CAINFO, file))
            codes.append(gannet_easy_set_string(easy, CURLOPT_CAPATH, nil))
        }
        return codes.allSatisfy { $0 == CURLE_OK }
    }
}

extension EasyHandle {
    /// The outcome of the handle's transfer, when no redirect goes on. Leaves a file only on success.
    func outcome(_ code: CURLcode, _ settings: EngineSettings) -> TransferTicket.Outcome {
        guard let transfer else { fatalError("A libcurl handle ended that has no transfer.") }
        let request = transfer.ticket.request
        let finalURL = RedactedURL.withoutUserInfo(transfer.target.text)
        var ending = TransferState.Ending(
            code: code, text: "", sentRange: request.asksForPart, isBehindProxy: settings.proxy != nil,
            followsRedirects: settings.fetch.maximumRedirects > 0)
        if code != CURLE_OK {
            ending.text = text(for: code)
            ending.systemError = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
            ending.finalURL = RedactedURL(finalURL).description
            ending.lacksDescriptors = SystemLimit.lacksDescriptors
        }
        if let (kind, detail) = transfer.state.failure(ending) {
            var error = transfer.failure(kind, detail)
            if kind.retry.asksForRest { error.retryAfter = transfer.retryAfter }
            if case .status = kind { error.headers = transfer.responseHeaders }
            if case .storage(let failure) = transfer.state.stop { error.systemError = failure.errno }
            return .failure(error)
        }
        if let reason = transfer.undecoded() { return .failure(transfer.failure(.truncated, reason)) }
        do throws(StorageFailure) {
            let body = try transfer.keepBody(hasher: hasher)
            return .success(
                Download(
                    finalURL: finalURL, status: transfer.state.status, headers: transfer.responseHeaders, body: body,
                    byteCount: transfer.state.bodyBytes, transferredBytes: transfer.state.transferredBytes,
                    duration: .now - transfer.start, hops: transfer.hops, wire: request.wire,
                    continuations: transfer.continuation.count))
        } catch {
            var failure = transfer.failure(error.kind, error.description)
            failure.systemError = error.errno
            return .failure(failure)
        }
    }
}

extension Transfer {
    /// How long the server wants no further request.
    fileprivate var retryAfter: Duration? {
        responseHeaders["retry-after"].flatMap { RetryAfter.parse($0, now: Int64(time(nil))) }
    }
}
