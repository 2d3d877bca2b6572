extension RedisError {
    /// Makes an error from a server's error text, by its first word. The secret is removed.
    package init(reply text: String, scrubbing secret: RedisSecret? = nil) {
        if let refusal = RedisError(refusal: text) {
            self = refusal
            return
        }
        let text = Self.withoutPlace(Self.withoutArguments(Self.unwrapped(text)))
        let code = text.prefix { $0 != " " }
        func shown(_ part: Substring) -> String {
            // Scrubbed before it is cut, because a cut password could not be found.
            String((secret?.scrub(String(part)) ?? String(part)).prefix(Self.longestDetail))
        }
        let whole = shown(text)
        let message = shown(text.dropFirst(code.count).drop { $0 == " " })
        switch code {
        case "LOADING": self.init(.loading, message)
        case "READONLY": self.init(.readOnly, message)
        case "MASTERDOWN": self.init(.replicaStale, message)
        case "BUSY": self.init(.busy, message)
        case "OOM": self.init(.outOfMemory, message)
        case "MISCONF", "NOREPLICAS": self.init(.writesDisabled, message)
        case "NOAUTH": self.init(.authenticationRequired, message)
        case "WRONGPASS": self.init(.authenticationFailed, message)
        case "WRONGTYPE": self.init(.wrongType, message)
        case "NOSCRIPT": self.init(.noScript, message)
        case "MOVED": self.init(.moved, message)
        case "ASK": self.init(.ask, message)
        case "TRYAGAIN": self.init(.tryAgain, message)
        case "CLUSTERDOWN": self.init(.clusterDown, message)
        case "CROSSSLOT": self.init(.clustered, whole)
        case "ERR" where message.contains("access a non local key in a cluster"): self.init(.tryAgain, message)
        case "ERR" where message.hasPrefix("max number of clients"): self.init(.tooManyClients, message)
        case "ERR" where message.hasPrefix("invalid password") || message.contains("without any password configured"):
            self.init(.authenticationFailed, message)
        case "ERR" where message.contains("not allowed in cluster mode"): self.init(.clustered, message)
        case "ERR" where message.contains("unning script") || message.contains("user_script"): self.init(.scriptFailed, message)
        default: self.init(.other, whole)
        }
    }

    /// Before Redis 7, a script's failing command came wrapped: `ERR Error running script (call to f_…): @user_script:1: -OOM …`.
    private static func unwrapped(_ text: String) -> Substring {
        guard text.hasPrefix("ERR Error running script"), let mark = text.firstRange(of: ": -") else { return Substring(text) }
        return text[mark.upperBound...]
    }

    /// Redis 7 adds the line of the script, which helps only if the script is at fault.
    private static func withoutPlace(_ text: Substring) -> Substring {
        guard !text.hasPrefix("ERR "), let mark = text.firstRange(of: " script: "), text.contains(", on @user_script:") else { return text }
        return text[..<mark.lowerBound]
    }

    /// `unknown command 'NAME', with args beginning with: …` may quote a secret or a body.
    private static func withoutArguments(_ text: Substring) -> Substring {
        guard let mark = text.firstRange(of: ", with args beginning with") else { return text }
        return text[..<mark.lowerBound]
    }

    /// Servers quote commands, which may be long.
    package static let longestDetail = 300
}
