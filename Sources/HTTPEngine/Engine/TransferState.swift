/// What has been seen of one transfer, and what that means. Takes what libcurl reports, says how to go on; does nothing itself.
struct TransferState {
    /// Why a callback ended the transfer.
    enum Stop: Hashable {
        case headersTooLarge
        case bodyTooLarge
        /// Enough of the body of an answer that is not a success.
        case uninteresting
        case storage(String)
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
    private var headerBytes = 0
    private var discardedBytes = 0
    private(set) var stop: Stop?
    private var refusal: (address: IPAddress, reason: AddressGuard.Reason)?
    private var socketsOpened = 0

    init(maximumBody: Int64, maximumHeaders: Int) {
        self.maximumBody = maximumBody
        self.maximumHeaders = maximumHeaders
    }

    mutating func socketOpens() {
        phase = .connect
        socketsOpened += 1
    }

    mutating func socketRefused(_ address: IPAddress, _ reason: AddressGuard.Reason) {
        refusal = (address, reason)
    }

    mutating func requestStarts() { phase = .response }

    /// False ends the transfer.
    mutating func headerBytesCame(_ count: Int) -> Bool {
        headerBytes += count
        guard headerBytes <= maximumHeaders else {
            stop = .headersTooLarge
            return false
        }
        return true
    }

    /// A redirect begins a new hop, whose connection is another question than the last one's.
    mutating func headersEnded(status: Int) {
        self.status = status
        refusal = nil
        socketsOpened = 0
        switch status {
        case 100...199: phase = .response
        case 300...399: phase = .resolve
        default: phase = .body
        }
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

    mutating func storageFailed(_ failure: StorageFailure) { stop = .storage(failure.description) }

    var isSuccess: Bool { (200...299).contains(status) }

    /// The address refused on this hop, when no other address of the host could be tried.
    var refusedAddress: (address: IPAddress, reason: AddressGuard.Reason)? { socketsOpened == 0 ? refusal : nil }
}
