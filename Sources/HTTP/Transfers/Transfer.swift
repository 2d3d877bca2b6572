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
    private var times = HopTimes()
    var state: TransferState
    /// Where the current hop goes.
    private(set) var target: CanonicalURL
    /// The request's headers besides the engine's own, as far as the current hop gets them.
    private(set) var headers: [HeaderField]
    private(set) var hops: [Download.Hop] = []
    /// Set while libcurl has the current hop.
    var handle: EasyHandle?
    /// The name whose addresses libcurl was told for the current hop.
    var knownName: HostPort?
    /// The connection of the current request.
    var ends: Connections.Ends?
    /// How much had been read from it before, once the body was looked at. To ask the kernel at each request would cost two calls of it.
    var readBefore: UInt64?
    /// Whether libcurl has the current hop as one of those that share an origin's connections.
    var sharesConnections = false
    /// When the current hop's headers must have come; nil before the request and after them.
    private(set) var answerDeadline: ContinuousClock.Instant?
    var pace: BodyPace
    /// The body that broke off, until its rest begins to come.
    var broken: BrokenBody?
    var continuation = BodyContinuation()
    /// Of all requests whose body broke off.
    var earlierPhases: PhaseTimes?
    /// Hashes the body from its first piece to its last. A body that broke off takes it from handle to handle.
    var hasher: SHA256Hasher?

    let settings: EngineSettings
    let buffers: BodyBuffers
    var body: BodyWriter?
    var decoder: ContentDecoder?
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
        pace = BodyPace(settings)
        state = TransferState(
            maximumBody: ticket.request.mostOfBody(settings.fetch), maximumHeaders: settings.fetch.maximumHeaders,
            isConditional: ticket.request.isConditional,
            mostOfOthers: ticket.request.wire == nil ? TransferState.discardLimit : WireRecord.mostOfOthers)
        wire = ticket.request.wire.map(WireHop.init)
    }

    var id: UInt64 { ticket.id }

    /// The target in the first line of the current hop's request.
    var requestTarget: String { target.requestTarget(throughProxy: settings.proxy?.passesOnRequests == true && !target.isSecure) }

    var server: HostPort { HostPort(host: target.hostName, port: target.port) }

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
            state.stop = .failure(.protocolError, "it changed to another protocol (101), although that was not asked for")
            return false
        }
        guard state.phase == .body else { return true }
        answerDeadline = nil
        if broken != nil {
            switch takeRest(status) {
            case .goesOn:
                pace.begins(at: .now)
                return true
            case .isNone: return false
            case .beginsAnew: break
            }
        }
        if state.isSuccess, let reason = ticket.request.refusal?(responseHeaders) {
            state.stop = .failure(.disallowed, reason)
            return false
        }
        guard state.hasBody else { return true }
        guard checkFraming() && prepareDecoder() else { return false }
        pace.begins(at: .now)
        reportProgress()
        return true
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
    func lookedUp() { times.lookUp = .now - hopStart }

    /// libcurl has the current hop from now on.
    func begins() { times.begun = .now - hopStart }

    /// Where its time went, until now.
    var phases: PhaseTimes {
        var times = times
        times.earlier = earlierPhases == nil ? hopStart - start : .zero
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
        (hopStart, times) = (.now, HopTimes())
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

    func failure(_ kind: FetchError.Kind, _ detail: String) -> FetchError {
        FetchError(kind: kind, url: ticket.request.url, detail: detail)
    }

    static let statusLineStart = Array("HTTP/".utf8)
}
