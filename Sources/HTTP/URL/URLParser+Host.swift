internal import GannetBase

/// The standard's host parser.
extension URLParser {
    /// Appends the host in the one spelling that the standard writes.
    static func append(host: ArraySlice<UInt8>, to output: inout [UInt8]) throws(RequestRejection) {
        if host.first == UInt8(ascii: "[") {
            output += try address6(host).utf8
            return
        }
        let start = output.count
        // A host is the only part whose escapes are decoded.
        let name = host.contains(UInt8(ascii: "%")) ? [UInt8].percentDecoded(host).bytes[...] : host
        if InternationalName.isOne(name) {
            guard let ascii = InternationalName.ascii(name) else { throw .badHost }
            output += ascii
        } else {
            output += name.lazy.map(\.lowercased)
        }
        // A name of soft hyphens alone is empty by now.
        let written = output[start...]
        guard !written.isEmpty, !written.contains(where: ForbiddenBytes.domain.contains) else { throw .badHost }
        if endsInNumber(written) {
            guard let bits = address4(written) else { throw .badHost }
            output.removeSubrange(start...)
            output += IPAddress.v4(bits).description.utf8
        }
    }

    // MARK: IPv4

    /// A host that ends in a number is an address, or invalid.
    private static func endsInNumber(_ name: ArraySlice<UInt8>) -> Bool {
        let name = name.last == UInt8(ascii: ".") ? name.dropLast() : name
        return HostName.isNumber(name.lastIndex(of: UInt8(ascii: ".")).map { name[($0 + 1)...] } ?? name)
    }

    /// An address in any spelling of the C library: `127.1`, `0x7f000001`.
    private static func address4(_ name: ArraySlice<UInt8>) -> UInt32? {
        var parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        guard parts.count <= 4 else { return nil }
        var address: UInt64 = 0
        for (index, part) in parts.enumerated() {
            guard let number = number(part) else { return nil }
            // The last number fills the rest.
            let bits = index + 1 < parts.count ? 8 : UInt64(8 * (5 - parts.count))
            guard number >> bits == 0 else { return nil }
            address = address << bits | number
        }
        return UInt32(address)
    }

    /// A decimal, octal or hexadecimal number below 2^36; nil for other texts.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        var digits = text
        var radix: UInt8 = 10
        if text.count >= 2, text.first == UInt8(ascii: "0") {
            digits = text.dropFirst()
            radix = 8
            if digits.first.map({ $0 | 0x20 }) == UInt8(ascii: "x") {
                digits = digits.dropFirst()
                radix = 16
            }
        }
        guard !text.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in digits {
            guard let digit = byte.hexadecimalDigit, digit < radix else { return nil }
            number = number * UInt64(radix) + UInt64(digit)
            guard number < 1 << 36 else { return nil }
        }
        return number
    }

    // MARK: IPv6

    private static func address6(_ host: ArraySlice<UInt8>) throws(RequestRejection) -> String {
        guard host.last == UInt8(ascii: "]") else { throw .badHost }
        let parts = host.dropFirst().dropLast().split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
        guard case .v6(let bits)? = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { throw .badHost }
        guard parts.count == 1 else { throw .interfaceZone }
        return "[\(text(of: bits))]"
    }

    /// The first of the longest runs of zeros is left out. Unlike the C library, the standard writes no part of it as an IPv4 address.
    private static func text(of bits: UInt128) -> String {
        let pieces = (0..<8).map { UInt16(truncatingIfNeeded: bits >> UInt128(16 * (7 - $0))) }
        var run = 0..<1
        var start = 0
        for (index, piece) in pieces.enumerated() {
            if piece != 0 { start = index + 1 } else if index + 1 - start > run.count { run = start..<index + 1 }
        }
        let digits = pieces.map { String($0, radix: 16) }
        guard run.count > 1 else { return digits.joined(separator: ":") }
        return digits[..<run.lowerBound].joined(separator: ":") + "::" + digits[run.upperBound...].joined(separator: ":")
    }
}
