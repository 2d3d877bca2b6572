import CCurl
internal import GannetBase

/// The exchange of the current hop, for a request that wants it.
extension Transfer {
    /// Whether libcurl has to report what it sends.
    var keepsWire: Bool { wire != nil }

    /// A proxy's own request comes before the phase of the answer.
    func requestHeadGoes(_ part: UnsafeRawBufferPointer) {
        if state.phase == .response { wire?.requestHeadGoes(part) }
    }

    /// Keeps bytes of a body that the caller does not get as they are. False ends the transfer.
    func keepOnWire(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard wire != nil, !state.isSuccess || decoder != nil else { return true }
        do throws(StorageFailure) {
            try wire?.bodyCame(bytes, upTo: state.isSuccess ? .max : state.mostOfOthers)
            return true
        } catch {
            state.storageFailed(error)
            return false
        }
    }

    /// The current hop has ended in libcurl. Keeps its exchange, if its answer was taken as far as it is wanted.
    func keepExchange(_ code: CURLcode) {
        guard wire != nil, state.phase == .body, state.stop == nil || state.stop == .uninteresting else { return }
        let isWhole = code == CURLE_OK
        if state.isSuccess, !isWhole { return }
        let cut: WireRecord.Cut? = state.stop == .uninteresting ? .length : isWhole ? nil : .disconnect
        do throws(StorageFailure) {
            try wire?.ended(
                RedactedURL.withoutUserInfo(target.text), isDownloaded: state.isSuccess && decoder == nil, cut: cut)
        } catch {
            state.storageFailed(error)
        }
    }
}
