import CCurl

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension TransferState {
    /// What libcurl reports at the end.
    struct Ending {
        var code: CURLcode
        /// libcurl's words, possibly empty.
        var text: String
        /// The system's errno of a connection that failed; 0 without one.
        var systemError: Int32 = 0
        var sentRange = false
        /// Whether the transfer had used up its whole time.
        var isOutOfTime = false
        /// The last hop's, without credentials.
        var finalURL = ""
        /// Whether the process cannot have another descriptor.
        var lacksDescriptors = false
        var isBehindProxy = false
        var followsRedirects = true
    }

    /// Why the transfer failed; nil when it succeeded.
    ///
    /// An answer that leads on, or would if it said where to, is no success either.
    func failure(_ ending: Ending) -> (kind: FetchError.Kind, detail: String)? {
        switch stop {
        case .headersTooLarge: return (.headersTooLarge, "more than \(maximumHeaders.of("byte"))")
        case .bodyTooLarge: return (.tooLarge, "more than \(maximumBody.of("byte"))")
        case .uninteresting: return (.status(status), reason(ending))
        case .encoding(let reason): return (.badEncoding, reason)
        case .storage(let failure): return (failure.kind, failure.description)
        case .rules(let how): return (.protocolError, how)
        case .noAnswer: return (.timeout(.response), "no answer in the time for one")
        case nil: break
        }
        if status == 407, ending.isBehindProxy { return (.proxy, "it wants a name and a password (407)") }
        // No hop follows an error, so the status is final however the rest of that answer went.
        if status >= 400 { return (.status(status), "") }

        if ending.code == CURLE_COULDNT_CONNECT, let refused = refusedAddress {
            let address = refused.address
            let fact = "\(address) is \(refused.reason.rawValue)"
            // Nobody should open a network because a stranger's redirect points into it, nor give away a machine's identity by habit.
            if isRedirected { return (.refusedAddress, "redirected to \(ending.finalURL): \(fact)") }
            if refused.reason == .metadata { return (.refusedAddress, fact) }
            return (.refusedAddress, "\(fact), and the network \(address)/\(address.bitCount) is not allowed")
        }
        if let shortage = shortage(ending) { return (.systemLimit, SystemLimit.sentence(shortage)) }
        let text = short(ending)
        switch FetchError.Kind(ending.code, phase: phase) {
        case nil where !isSuccess:
            return status == 0 ? (.reset, "it ended within the headers") : (.status(status), reason(ending))
        case nil where status == 206 && !ending.sentRange:
            return (.protocolError, "it sent a part (206) where the whole was asked for")
        case nil:
            return nil
        case .timeout(.body) where !ending.isOutOfTime:
            return (.tooSlow, text)
        // With a proxy the only connection is the one to it.
        case .connect? where ending.isBehindProxy, .timeout(.connect)? where ending.isBehindProxy:
            return (.proxy, text)
        // It is there and does its work, but does not get to this host.
        case .proxy? where ending.text.hasPrefix("Can't complete SOCKS"):
            return (.connect, text)
        case .reset? where ending.isBehindProxy && ending.text.contains("CONNECT"):
            return (ending.text.contains("407") ? .proxy : .connect, ending.text)
        // What libcurl says of a body whose chunks are malformed it says of a lost connection too.
        case .reset where ending.text.hasSuffix(" in chunked-encoding"):
            return (.protocolError, ending.text)
        // libcurl runs out of its own buffer for one header line before our limit for all of them is reached.
        case .engine where ending.code == CURLE_OUT_OF_MEMORY && phase == .response:
            return (.headersTooLarge, "one line of more than 100 KB")
        // Whatever libcurl cannot make of an answer is the answer's fault, and not the engine's.
        case .engine where ending.code != CURLE_OUT_OF_MEMORY && ending.code != CURLE_WRITE_ERROR && phase.isAfterRequest:
            return (.protocolError, ending.text)
        case .tooLarge:
            return (.tooLarge, "more than \(maximumBody.of("byte"))")
        case let kind?:
            return (kind, text)
        }
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

    /// Why an answer's status is the end of it, where that does not go without saying: had it named a place, that would be the next hop.
    private func reason(_ ending: Ending) -> String { leadsOn && ending.followsRedirects ? "it named no place to go on to" : "" }

    /// The errno of a descriptor that could not be had, where that may be why the transfer failed.
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
