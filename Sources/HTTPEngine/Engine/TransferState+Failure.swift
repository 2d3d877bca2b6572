import CCurl

extension TransferState {
    /// What libcurl reports at the end.
    struct Ending {
        var code: CURLcode
        /// libcurl's words, possibly empty.
        var text: String
        var sentRange = false
        /// Whether the transfer had used up its whole time.
        var isOutOfTime = false
    }

    /// Why the transfer failed; nil when it succeeded.
    func failure(_ ending: Ending) -> (kind: FetchError.Kind, detail: String)? {
        switch stop {
        case .headersTooLarge: return (.headersTooLarge, "more than \(maximumHeaders) bytes")
        case .bodyTooLarge: return (.tooLarge, "more than \(maximumBody) bytes")
        case .uninteresting: return (.status(status), "")
        case .storage(let text): return (.storage, text)
        case nil: break
        }
        // No hop follows an error, so the status is final however the rest of that answer went.
        if status >= 400 { return (.status(status), "") }

        if ending.code == CURLE_COULDNT_CONNECT, let refused = refusedAddress {
            let address = refused.address
            return (
                .refusedAddress,
                "\(address) is \(refused.reason.rawValue); --allow-net \(address)/\(address.bitCount) permits it"
            )
        }
        switch FetchError.Kind(ending.code, phase: phase) {
        case nil where !isSuccess:
            return status == 0 ? (.protocolError, "no status") : (.status(status), "")
        case nil where status == 206 && !ending.sentRange:
            return (.protocolError, "it sent a part (206) where the whole was asked for")
        case nil:
            return nil
        case .timeout(.body) where !ending.isOutOfTime:
            return (.tooSlow, ending.text)
        // libcurl runs out of its own buffer for one header line before our limit for all of them is reached.
        case .engine where ending.code == CURLE_OUT_OF_MEMORY && phase == .response:
            return (.headersTooLarge, "one line of more than 100 KB")
        case .tooLarge:
            return (.tooLarge, "more than \(maximumBody) bytes")
        case let kind?:
            return (kind, ending.text)
        }
    }
}
