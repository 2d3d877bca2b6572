/// Where a name server listens, for UDP and TCP.
struct NameServer: Sendable, Hashable {
    let address: IPAddress
    let port: UInt16

    init(address: IPAddress, port: UInt16 = 53) {
        self.address = address
        self.port = port
    }

    /// Reads `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
    init?(_ text: String) {
        if let address = IPAddress(text) {
            self.init(address: address)
            return
        }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), !text.utf8.isEmpty else {
            guard let address = Self.unbracketed(text[...]) else { return nil }
            self.init(address: address)
            return
        }
        let digits = text[text.utf8.index(after: colon)...].utf8
        let host = text[..<colon]
        if text.utf8.last == UInt8(ascii: "]"), let address = Self.unbracketed(text[...]) {
            self.init(address: address)
        } else if (1...5).contains(digits.count), digits.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(Substring(digits)), port > 0,
            let address = Self.unbracketed(host) ?? Self.v4(host)
        {
            self.init(address: address, port: port)
        } else {
            return nil
        }
    }

    /// As c-ares and people write it.
    var text: String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }

    private static func unbracketed(_ text: Substring) -> IPAddress? {
        guard text.hasPrefix("["), text.hasSuffix("]"), case .v6(let bits)? = IPAddress(text.dropFirst().dropLast()) else { return nil }
        return .v6(bits)
    }

    private static func v4(_ text: Substring) -> IPAddress? {
        guard case .v4(let bits)? = IPAddress(text) else { return nil }
        return .v4(bits)
    }
}
