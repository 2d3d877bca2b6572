import CCurl

/// One transfer while it runs: lives on the engine's thread, inside an easy handle.
final class Transfer {
    let ticket: TransferTicket
    let start = ContinuousClock.now
    var state: TransferState
    private let addressGuard: AddressGuard
    private let hasher: SHA256Hasher
    /// Made with the first byte, or at the end of an empty body: a failed request costs the disk nothing.
    private var body: BodyFile?

    init(_ ticket: TransferTicket, options: DownloaderOptions, hasher: SHA256Hasher) {
        self.ticket = ticket
        self.hasher = hasher
        addressGuard = options.addressGuard
        state = TransferState(maximumBody: options.maximumBody, maximumHeaders: options.maximumHeaders)
        hasher.reset()
    }

    /// Whether a socket may be opened to the address.
    func permits(_ address: IPAddress?) -> Bool {
        // Neither IPv4 nor IPv6: nothing asks libcurl for such a socket.
        guard let address else { return false }
        if let reason = addressGuard.refusal(of: address) {
            state.socketRefused(address, reason)
            return false
        }
        state.socketOpens()
        return true
    }

    /// False ends the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch state.bodyBytesCame(bytes.count) {
        case .stop: return false
        case .discard: return true
        case .write: break
        }
        do throws(StorageFailure) {
            try openBody().write(bytes)
            hasher.update(bytes)
            return true
        } catch {
            state.storageFailed(error)
            return false
        }
    }

    /// The file with the whole body, now the caller's.
    func keepBody() throws(StorageFailure) -> (path: String, digest: SHA256Digest) {
        let path = try openBody().keep()
        return (path, hasher.finish())
    }

    private func openBody() throws(StorageFailure) -> BodyFile {
        if let body { return body }
        let new = try BodyFile(in: ticket.request.bodyFolder)
        body = new
        return new
    }
}
