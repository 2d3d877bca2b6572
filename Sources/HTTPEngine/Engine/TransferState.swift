/// What has been seen of one transfer, and what that means. Takes what libcurl reports, says how to go on; does nothing itself.
struct TransferState {
    /// Why a callback ended the transfer.
    enum Stop: Hashable {
        case headersTooLarge
        case bodyTooLarge
        /// Enough of the body of an answer that is not a success.
        case uninteresting
        case encoded([String])
        case storage(StorageFailure)
    }

    enum BodyAction: Equatable {
        case write, discard, stop
    }

    /// So much of an error's page is read to keep its connection for the next request; a longer one costs the connection.
    static let discardLimit = 64 * 1024

    let maximumBody: Int64
    let maximumHeaders: Int

    private(set) var phase = FetchError.Phase.resolve
    /// Of the last complete set of headers; 0 before.
    private(set) var status = 0
    private(set) var bodyBytes: Int64 = 0
    private(set) var isRedirected = false
    private var encodings = ContentEncodings()
    private var headerBytes = 0
    private var discardedBytes = 0
    private(set) var stop: Stop?
    private var refusal: (address: IPAddress, reason: AddressGuard.Reason)?
    private var socketsOpened = 0
    /// The errno with which this hop's last socket could not be made.
    private(set) var socketError: Int32?

    init(maximumBody: Int64, maximumHeaders: Int) {
        self.maximumBody = maximumBody
        self.maximumHeaders = maximumHeaders
    }

    mutating func socketOpens() {
        phase = .connect
        socketsOpened += 1
        socketError = nil
    }

    mutating func socketFailed(_ code: Int32) { socketError = code }

    mutating func socketRefused(_ address: IPAddress, _ reason: AddressGuard.Reason) {
        refusal = (address, reason)
    }

    mutating func requestStarts() { phase = .response }

    /// False ends the transfer.
    mutating func headerCame(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        // What comes behind a body is a trailer.
        if phase != .body { encodings.take(line) }
        guard headerBytes <= maximumHeaders else {
            stop = .headersTooLarge
            return false
        }
        return true
    }

    /// A redirect begins a new hop, whose connection is another question than the last one's. False ends the transfer.
    mutating func headersEnded(status: Int) -> Bool {
        self.status = status
        refusal = nil
        socketsOpened = 0
        socketError = nil
        let names = encodings.names
        encodings = ContentEncodings()
        switch status {
        case 100...199:
            phase = .response
        case 300...399:
            phase = .resolve
            isRedirected = true
        default:
            phase = .body
        }
        // These two have no body.
        guard isSuccess, status != 204, status != 205, !names.isEmpty else { return true }
        stop = .encoded(names)
        return false
    }

    mutating func bodyBytesCame(_ count: Int) -> BodyAction {
        phase = .body
        guard isSuccess else {
            discardedBytes += count
            guard discardedBytes <= Self.discardLimit else {
                stop = .uninteresting
                return .stop
            }
            return .discard
        }
        bodyBytes += Int64(count)
        guard bodyBytes <= maximumBody else {
            stop = .bodyTooLarge
            return .stop
        }
        return .write
    }

    mutating func storageFailed(_ failure: StorageFailure) { stop = .storage(failure) }

    var isSuccess: Bool { (200...299).contains(status) }

    /// The address refused on this hop, when no other address of the host could be tried.
    var refusedAddress: (address: IPAddress, reason: AddressGuard.Reason)? { socketsOpened == 0 ? refusal : nil }
}
