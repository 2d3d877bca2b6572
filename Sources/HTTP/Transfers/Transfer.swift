import CCurl
internal import GannetBase

/// One transfer from the look-up of its host to its outcome, over all hops. It lives on the engine's thread.
final class Transfer {
    let ticket: TransferTicket
    /// When it began. The wait for a place does not count, so it moves this on.
    private(set) var start = ContinuousClock.now
    private var waitsSince: ContinuousClock.Instant?
    /// When the current hop began. Waits move it on too.
    private var hopStart = ContinuousClock.now
    private var lookUpTime: Duration?
    /// From the hop's start until libcurl had it.
    private var timeToBegin: Duration?
    var state: TransferState
    /// Where the current hop goes.
    private(set) var target: CanonicalURL
    /// The request's headers besides the engine's own, as far as the current hop gets them.
    private(set) var headers: [HeaderField]
    private(set) var hops: [Download.Hop] = []
    /// Set while libcurl has the current hop.
    var handle: EasyHandle?
    /// The name whose addresses libcurl was told for the current hop.
    var knownName: (host: String, port: Int)?
    /// The connection of the current request.
    var ends: Connections.Ends?
    /// How much had been read from it before, once the body was looked at. To ask the kernel at each request would cost two calls of it.
    var readBefore: UInt64?
    /// Whether libcurl has the current hop as one of those that share an origin's connections.
    var sharesConnections = false
    /// When the current hop's headers must have come; nil before the request and after them.
    private(set) var answerDeadline: ContinuousClock.Instant?
    var patience: BodyPatience
    /// The body that broke off, until its rest begins to come.
    var broken: BrokenBody?
    var continuation = BodyContinuation()
    /// Of all requests whose body broke off.
    var earlierPhases: PhaseTimes?
    /// Hashes the body from its first piece to its last. A body that broke off takes it from handle to handle.
    var hasher: SHA256Hasher?

    let settings: EngineSettings
    private let buffers: BodyBuffers
    var body: BodyWriter?
    private(set) var decoder: ContentDecoder?
    /// The current hop as it goes over the wire, for a request that wants it.
    var wire: WireHop?
    var headerLines: [UInt8] = [] { didSet { readHeaders = nil } }
    /// The lines as headers, once somebody has asked.
    private var readHeaders: ResponseHeaders?

    init(_ ticket: TransferTicket, _ settings: EngineSettings, _ buffers: BodyBuffers) {
        self.buffers = buffers
        self.ticket = ticket
        self.settings = settings
        target = ticket.target
        headers = ticket.request.headers
        patience = BodyPatience(settings)
        state = TransferState(
            maximumBody: ticket.request.mostOfBody(settings.fetch), maximumHeaders: settings.fetch.maximumHeaders,
            isConditional: ticket.request.isConditional,
            mostOfOthers: ticket.request.wire == nil ? TransferState.discardLimit : WireRecord.mostOfOthers)
        wire = ticket.request.wire.map(WireHop.init)
    }

    var id: UInt64 { ticket.id }

    /// The target in the first line of the current hop's request.
    var requestTarget: String { target.requestTarget(throughProxy: settings.proxy?.passesOnRequests == true && !target.isSecure) }

    var sharedOrigin: ConnectionSharing.Origin { ConnectionSharing.Origin(host: target.hostName, port: target.port) }

    var responseHeaders: ResponseHeaders {
        if let readHeaders { return readHeaders }
        let headers = ResponseHeaders(lines: headerLines)
        readHeaders = headers
        return headers
    }

    // MARK: What libcurl reports

    /// Whether a socket may be opened to the address.
    func permits(_ address: IPAddress?) -> Bool {
        // Neither IPv4 nor IPv6: nothing asks libcurl for such a socket.
        guard let address else { return false }
        // Behind a proxy the origin is the proxy's to reach, and the only address we see is the proxy's, which the user has named.
        if settings.proxy == nil, let reason = settings.addressGuard.refusal(of: address) {
            state.socketRefused(address, reason)
            return false
        }
        state.socketOpens()
        return true
    }

    func requestStarts(to address: String) {
        state.requestStarts()
        wire?.requestStarts(to: settings.proxy == nil && !address.isEmpty ? address : nil)
        answerDeadline = .now + settings.answerTimeout
    }

    /// False ends the transfer.
    func headerCame(_ line: UnsafeRawBufferPointer) -> Bool {
        guard state.headerCame(line.count) else { return false }
        // A line behind the body is a trailer, and says nothing about the body.
        guard state.phase != .body else { return true }
        wire?.headerCame(line, isFirst: line.starts(with: Self.statusLineStart))
        if line.starts(with: Self.statusLineStart) { headerLines.removeAll(keepingCapacity: true) } else { headerLines += line }
        return true
    }

    /// The empty line came. The status is libcurl's, since a header may be made to look like a status line. False ends the transfer.
    /// - Parameter protocolName: Asked for only where the exchange is kept.
    func headersEnded(status: Int, _ protocolName: @autoclosure () -> String) -> Bool {
        guard state.phase != .body else { return true }
        wire?.headersEnded(protocolName())
        state.headersEnded(status: status)
        guard status != 101 else {
            state.brokeRules("it changed to another protocol (101), although that was not asked for")
            return false
        }
        guard state.phase == .body else { return true }
        answerDeadline = nil
        if broken != nil {
            switch takeRest(status) {
            case .goesOn:
                patience.begins(at: .now)
                return true
            case .isNone: return false
            case .beginsAnew: break
            }
        }
        if state.isSuccess, let reason = ticket.request.refusal?(responseHeaders) {
            state.refused(because: reason)
            return false
        }
        guard state.hasBody else { return true }
        guard checkFraming() && prepareDecoder() else { return false }
        patience.begins(at: .now)
        reportProgress()
        return true
    }

    /// False ends the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer, hasher: SHA256Hasher) -> Bool {
        let action = state.transferred(bytes.count)
        patience.came(bytes.count, ofBody: state.hasBody, at: .now)
        guard keepOnWire(bytes) else { return false }
        switch action {
        case .stop: return false
        case .discard: return true
        case .write: reportProgress()
        }
        guard let decoder else { return store(bytes, hasher) }
        do throws(FetchError) {
            return try decoder.decode(bytes) { store($0, hasher) }
        } catch {
            state.decodingFailed(error.detail)
            return false
        }
    }

    private func reportProgress() {
        guard let progress = ticket.request.progress else { return }
        progress(FetchProgress(received: state.transferredBytes, expected: state.announcedBytes))
    }

    // MARK: How it goes on

    /// It has all it needs but a place.
    func waits() { waitsSince = .now }

    /// It has a place.
    func waited() {
        if let waitsSince {
            let time = .now - waitsSince
            start += time
            hopStart += time
        }
        waitsSince = nil
    }

    /// Its host's address is known, or not to be had.
    func lookedUp() { lookUpTime = .now - hopStart }

    /// libcurl has the current hop from now on.
    func begins() { timeToBegin = .now - hopStart }

    /// Where its time went, until now.
    var phases: PhaseTimes {
        var times = HopTimes()
        times.earlier = earlierPhases == nil ? hopStart - start : .zero
        times.lookUp = lookUpTime
        times.begun = timeToBegin
        times.total = .now - hopStart
        times.isSecure = target.isSecure
        handle?.report(&times)
        return times.phases.adding(earlierPhases)
    }

    /// The target of a redirect; nil when the answer is none. Throws when it must not be followed.
    func nextTarget() throws(FetchError) -> CanonicalURL? {
        guard state.leadsOn, settings.fetch.maximumRedirects > 0, state.stop == nil || state.stop == .uninteresting else { return nil }
        let places = Set(responseHeaders.values(of: "location"))
        guard places.count <= 1 else { throw failure(.protocolError, "it names several places to go on to") }
        guard let place = responseHeaders.bytes(of: "location"), !place.isEmpty else { return nil }
        guard hops.count < settings.fetch.maximumRedirects else {
            let count = settings.fetch.maximumRedirects.of("time")
            throw failure(.tooManyRedirects, "more than \(count); the last led from \(RedactedURL(target.text))")
        }
        let next: CanonicalURL
        do throws(RequestRejection) {
            next = try target.following(place)
        } catch {
            let text = RedactedURL(String(decoding: place.prefix(300), as: UTF8.self))
            throw failure(.refusedRedirect, "it led to '\(text)': \(error)")
        }
        // Nothing is remembered from request to request, so a third one would get the same answer. At a slow host a circle outlasts the
        // time of the transfer, which would be tried again.
        let url = RedactedURL.withoutUserInfo(next.text)
        let times = hops.count { $0.url == url } + (RedactedURL.withoutUserInfo(target.text) == url ? 1 : 0)
        guard times < 2 else { throw failure(.tooManyRedirects, "in a circle, from \(RedactedURL(target.text)) to \(RedactedURL(url))") }
        return next
    }

    /// The current hop is asked again.
    func startsAnew() {
        state.startsAnew()
        answerDeadline = nil
    }

    /// The times of the hop begin again.
    func restartsHop() {
        (hopStart, lookUpTime, timeToBegin) = (.now, nil, nil)
        answerDeadline = nil
    }

    /// Turns to the next hop. Another origin gets no credentials and no trace.
    func go(to next: CanonicalURL) {
        hops.append(Download.Hop(url: RedactedURL.withoutUserInfo(target.text), status: state.status, headers: responseHeaders))
        if !target.trusts(next) { headers.removeAll(where: \.staysWithOrigin) }
        target = next
        state.redirects()
        restartsHop()
        headerLines = []
        decoder = nil
    }

    /// The whole body, now the caller's.
    func keepBody(hasher: SHA256Hasher) throws(StorageFailure) -> DownloadedBody {
        var store = body ?? BodyWriter(ticket.request.body, hasher: hasher, buffers: buffers)
        return try store.finish()
    }

    /// Why the body is incomplete by its encoding; nil when it is complete.
    func undecoded() -> String? {
        guard let decoder, state.hasBody, state.stop != .cut else { return nil }
        do throws(FetchError) {
            try decoder.finish()
            return nil
        } catch {
            return error.detail
        }
    }

    func failure(_ kind: FetchError.Kind, _ detail: String) -> FetchError {
        FetchError(kind: kind, url: ticket.request.url, detail: detail)
    }

    /// Whether the headers say in at most one way where the body ends.
    ///
    /// libcurl believes the beginning of a length that is a number, and the last of several lengths. It passes over a length, or a chunked
    /// coding, that is folded or has a blank before its colon.
    var isWellFramed: Bool {
        let headers = responseHeaders
        if headers.isAmbiguous("content-length") || headers.isAmbiguous("transfer-encoding") { return false }
        let all = headers.has("content-length") ? headers.values(of: "content-length") : []
        if all.count < 2, all.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) { return true }
        let lengths = Set(all)
        if lengths.count < 2, lengths.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) { return true }
        let parts = Set(lengths.flatMap { $0.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } } })
        // RFC 9110 permits the same length several times.
        return parts.count == 1 && !lengths.contains { $0.contains { $0 == " " } && !$0.contains(",") }
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }
    }

    private func checkFraming() -> Bool {
        guard isWellFramed else {
            state.brokeRules(
                "it does not say clearly where its body ends: its length is no number, is given twice, or is written in an unusual way")
            return false
        }
        return state.announced(announcedLength)
    }

    private var announcedLength: Int64? {
        responseHeaders.bytes(of: "content-length").map {
            // The first of several equal ones. A number with too many digits is larger than any limit.
            let digits = $0.prefix { 0x30...0x39 ~= $0 }
            return digits.isEmpty ? 0 : Int64(String(decoding: digits, as: UTF8.self)) ?? .max
        }
    }

    private func prepareDecoder() -> Bool {
        let headers = responseHeaders
        // libcurl does not check the end of such a coding.
        if let coding = ContentEncodings.names(in: headers, of: "transfer-encoding").first {
            state.decodingFailed("the body is \(coding)-encoded for the transfer, although that was not asked for")
            return false
        }
        let names = ContentEncodings.names(in: headers)
        if names.isEmpty { return true }
        do throws(FetchError) {
            decoder = try ContentDecoder(encodings: names, intermediateLimit: ticket.request.mostOfBody(settings.fetch))
            return true
        } catch {
            state.decodingFailed(error.detail)
            return false
        }
    }

    private func store(_ all: UnsafeRawBufferPointer, _ hasher: SHA256Hasher) -> Bool {
        guard let cut = ticket.request.cut, all.count > Int64(cut) - state.bodyBytes else { return write(all, hasher) }
        guard write(UnsafeRawBufferPointer(rebasing: all.prefix(max(0, cut - Int(state.bodyBytes)))), hasher) else { return false }
        state.cutBody()
        return false
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ hasher: SHA256Hasher) -> Bool {
        guard state.unpacked(bytes.count) else { return false }
        do throws(StorageFailure) {
            if body == nil {
                let growing = ticket.request.growing.flatMap { (200...299).contains(state.status) ? $0 : nil }
                let claim = settings.fetch.room?.claim()
                if let growing { begin(growing, claim) }
                body = BodyWriter(
                    ticket.request.body, hasher: hasher, buffers: buffers, growing: growing, claim: claim,
                    expected: decoder == nil ? announcedLength.flatMap { Int(exactly: $0) } : nil)
            }
            try body?.write(bytes)
            return true
        } catch {
            state.storageFailed(error)
            return false
        }
    }

    private func begin(_ growing: GrowingBody, _ claim: BodyClaim?) {
        let length = decoder == nil ? announcedLength.flatMap { Int(exactly: $0) } : nil
        let finalURL = RedactedURL.withoutUserInfo(target.text)
        growing.begin(
            GrowingBody.Head(finalURL: finalURL, status: state.status, headers: responseHeaders, length: length),
            in: buffers.take(min(length ?? 0, BodyBuffers.largest)), claim)
    }

    static let statusLineStart = Array("HTTP/".utf8)
}
