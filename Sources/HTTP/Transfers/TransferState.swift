import CCurl

/// The state machine of one transfer: takes libcurl's reports, and says how to go on. It does no IO.
struct TransferState {
    /// Why a callback, or a deadline of ours, ended the transfer.
    enum Stop: Hashable {
        case failure(FetchError.Kind, String)
        case storage(StorageFailure)
        /// Enough was read of the body of an answer that is not a success.
        case uninteresting
        /// The time for all that does not move is over, within a body that nobody wants.
        case outOfTime
        /// The body has come as far as the request wants it.
        case cut
    }

    enum BodyAction: Equatable {
        case write, discard, stop
    }

    /// So much of an error's page is read, to keep its connection for the next request. A longer page costs the connection.
    static let discardLimit = 64 * 1024

    /// The same for this transfer.
    let mostOfOthers: Int
    let maximumBody: Int64
    let maximumHeaders: Int
    /// Whether "not modified" is an answer to the request.
    let isConditional: Bool

    private(set) var phase = FetchError.Phase.resolve
    /// The status of the last complete set of headers; 0 before.
    private(set) var status = 0
    /// Bytes of the body as they came, still encoded.
    private(set) var transferredBytes: Int64 = 0
    /// The length that the answer announced; nil without one.
    private(set) var announcedBytes: Int64?
    /// Bytes of the body after decoding.
    private(set) var bodyBytes: Int64 = 0
    /// For an answer with the rest of a body that broke off: where its part ends, and the length of the whole.
    private(set) var rest: (end: Int64, total: Int64)?
    private(set) var isRedirected = false
    private var headerBytes = 0
    var stop: Stop?
    private var refusal: (address: IPAddress, reason: AddressGuard.Reason)?
    private var socketsOpened = 0
    /// The errno with which this hop's last socket could not be made.
    var socketError: Int32?
    /// Whether the connection held unread bytes before the request was sent.
    private(set) var hasFoundLeftover = false
    /// How often the hop has been asked again, on a connection of its own.
    private(set) var newStarts = 0
    /// Whether the last request went out on a connection that had been made for another.
    private(set) var isOnUsedConnection = false
    private var hasNewSocket = false
    /// Whether a part of an answer has come since.
    private(set) var hasAnswer = false

    init(maximumBody: Int64, maximumHeaders: Int, isConditional: Bool = false, mostOfOthers: Int = discardLimit) {
        self.mostOfOthers = mostOfOthers
        self.maximumBody = maximumBody
        self.maximumHeaders = maximumHeaders
        self.isConditional = isConditional
    }

    /// The next hop starts afresh. Only the limit on headers is one for all hops.
    mutating func redirects() {
        var next = TransferState(
            maximumBody: maximumBody, maximumHeaders: maximumHeaders, isConditional: isConditional, mostOfOthers: mostOfOthers)
        next.headerBytes = headerBytes
        next.isRedirected = true
        self = next
    }

    /// The next request asks for the rest of the body. The bytes that came stay.
    mutating func asksForRest() {
        var next = TransferState(maximumBody: maximumBody, maximumHeaders: maximumHeaders, mostOfOthers: mostOfOthers)
        next.headerBytes = headerBytes
        next.isRedirected = isRedirected
        (next.transferredBytes, next.bodyBytes, next.announcedBytes) = (transferredBytes, bodyBytes, announcedBytes)
        self = next
    }

    /// The answer has the rest of the body, up to `end`. For the caller it is a part of the first answer. False ends the transfer.
    mutating func goesOn(to end: Int64, of total: Int64) -> Bool {
        status = 200
        rest = (end, total)
        return announced(total)
    }

    /// The answer has the body from its first byte.
    mutating func beginsAnew() { (transferredBytes, bodyBytes, announcedBytes) = (0, 0, nil) }

    mutating func connects() { phase = .connect }

    mutating func socketOpens() {
        phase = .connect
        socketsOpened += 1
        hasNewSocket = true
        socketError = nil
    }

    mutating func socketRefused(_ address: IPAddress, _ reason: AddressGuard.Reason) {
        refusal = (address, reason)
    }

    /// Bytes of an earlier answer are a reason to ask again. A server that speaks first on a new connection does not speak HTTP.
    mutating func foundLeftover(onNewConnection isNew: Bool) {
        if isNew || newStarts > 0 {
            stop = .failure(.protocolError, "it sent an answer before the request")
        } else {
            hasFoundLeftover = true
        }
    }

    /// The hop is asked once more, on a connection of its own.
    mutating func startsAnew() {
        hasFoundLeftover = false
        newStarts += 1
        phase = .connect
    }

    /// libcurl may report this several times for a hop: it sends a request again by itself when its connection has ended meanwhile.
    mutating func requestStarts() {
        phase = .response
        isOnUsedConnection = !hasNewSocket
        hasNewSocket = false
        // All headers until now were a proxy's.
        hasAnswer = false
    }

    /// False ends the transfer.
    mutating func headerCame(_ count: Int) -> Bool {
        headerBytes += count
        hasAnswer = true
        guard headerBytes <= maximumHeaders else {
            stop = .failure(.headersTooLarge, "more than \(maximumHeaders.of("byte"))")
            return false
        }
        return true
    }

    mutating func headersEnded(status: Int) {
        self.status = status
        if !(100...199).contains(status) { phase = .body }
    }

    mutating func transferred(_ count: Int) -> BodyAction {
        phase = .body
        transferredBytes += Int64(count)
        if let rest, transferredBytes > rest.end {
            stop = .failure(.protocolError, "it sent more than the part that its Content-Range names")
            return .stop
        }
        if isSuccess { return transferredBytes <= maximumBody ? .write : tooLarge() }
        guard transferredBytes <= mostOfOthers else {
            stop = .uninteresting
            return .stop
        }
        return .discard
    }

    /// False ends the transfer.
    mutating func unpacked(_ count: Int) -> Bool {
        bodyBytes += Int64(count)
        return bodyBytes <= maximumBody || tooLarge() != .stop
    }

    /// The answer announces so many bytes of encoded body. False ends the transfer.
    mutating func announced(_ length: Int64?) -> Bool {
        announcedBytes = length
        return length ?? 0 <= maximumBody || tooLarge() != .stop
    }

    private mutating func tooLarge() -> BodyAction {
        stop = .failure(.tooLarge, "more than \(maximumBody.of("byte"))")
        return .stop
    }

    /// False ends the transfer.
    mutating func looked(_ verdict: BodyPace.Verdict) -> Bool {
        switch verdict {
        case .moves: return true
        case .standsStill(let time): stop = .failure(.timeout(.body), "nothing came for \(Self.seconds(time))")
        case .isSlow(let bytes, let time): stop = .failure(.tooSlow, "\(bytes.of("byte")) in \(Self.seconds(time))")
        }
        return false
    }

    /// So many bytes of the connection were read for the answer. False ends the transfer.
    ///
    /// A body may come in chunks of one byte, but an origin could put a megabyte around each byte and move for days.
    mutating func tookFromWire(_ count: UInt64) -> Bool {
        guard count > UInt64(transferredBytes) * 64 + (1 << 20) else { return true }
        stop = .failure(.protocolError, "it sent \(count) bytes for a body of \(transferredBytes)")
        return false
    }

    var isSuccess: Bool { (200...299).contains(status) || status == 304 && isConditional }

    /// Whether an answer of this status has a body that the caller wants.
    var hasBody: Bool { isSuccess && status != 204 && status != 205 && status != 304 }

    /// Whether the status is a redirect's.
    var leadsOn: Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Whether this hop has made a connection of its own.
    var hasOpenedSocket: Bool { socketsOpened > 0 }

    /// The address refused on this hop, when no other address of the host could be tried.
    var refusedAddress: (address: IPAddress, reason: AddressGuard.Reason)? { socketsOpened == 0 ? refusal : nil }
}

extension TransferState {
    /// Whether the transfer failed because its body broke off, and not for another reason.
    func brokeOff(_ kind: FetchError.Kind) -> Bool {
        guard phase == .body, status == 200 else { return false }
        switch (kind, stop) {
        case (.reset, nil), (.truncated, nil), (.timeout(.body), .failure): return true
        default: return false
        }
    }

    /// So often an unanswered hop is asked again.
    static let mostNewStarts = 2

    /// Whether the hop's request failed because its connection ended, before any part of an answer, and deserves a connection of its own.
    ///
    /// A server that ends a connection after a number of requests refuses those that are on their way. It has not looked at them, so the URL
    /// is not to blame. By itself, libcurl sends such a request again, but on any connection it has, and gives up after five times. With
    /// HTTP/2, where dozens of requests share a connection, that is soon. (Of the last stream on an ended connection it says `CURLE_HTTP2`.)
    func wasLeftUnanswered(_ code: CURLcode) -> Bool {
        guard stop == nil, phase == .response, !hasAnswer, newStarts < Self.mostNewStarts else { return false }
        switch code {
        case CURLE_HTTP2: return true
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING: return isOnUsedConnection
        default: return false
        }
    }
}
