internal import GannetBase

/// Paths and patterns as they are compared (RFC 9309, section 2.2.2).
///
/// An unreserved character stands for itself, also where it was written as `%61`. So does `/`. Each other octet is `%` and two digits in
/// upper case, whether it was written so or not. So `?` and `%3f` are both `%3F`, and `ä` is `%C3%A4`. A `%` without two digits is `%25`. `%2F`
/// stays, and is no `/`. A text in this form is its own normal form.
enum NormalPath {
    /// The path of a URL. A path without its first `/` gets one.
    static func octets(of path: String) -> [UInt8] {
        var path = path
        return path.withUTF8 { bytes in
            var octets: [UInt8] = []
            octets.reserveCapacity(bytes.count + 1)
            if bytes.first != slash { octets.append(slash) }
            append(bytes[...], to: &octets, keepsWildcards: false)
            return octets
        }
    }

    /// A pattern's value in the file. A `*` stays what it is. `$` at the end is left out and returned.
    static func append(pattern: ArraySlice<UInt8>, to octets: inout [UInt8]) -> Bool {
        let isAnchored = pattern.last == UInt8(ascii: "$")
        append(isAnchored ? pattern.dropLast() : pattern, to: &octets, keepsWildcards: true)
        return isAnchored
    }

    static let wildcard = UInt8(ascii: "*")
    private static let slash = UInt8(ascii: "/")
    private static let percent = UInt8(ascii: "%")

    private static func append<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, to octets: inout [UInt8], keepsWildcards: Bool
    ) where Bytes.Index == Int {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            var byte = bytes[index]
            var isEscape = false
            if byte == percent, index + 2 < bytes.endIndex, let high = bytes[index + 1].hexadecimalDigit,
                let low = bytes[index + 2].hexadecimalDigit
            {
                byte = high << 4 | low
                isEscape = true
            }
            index += isEscape ? 3 : 1
            if isUnreserved(byte) || !isEscape && (byte == slash || byte == wildcard && keepsWildcards) {
                octets.append(byte)
            } else {
                octets += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || [0x2d, 0x2e, 0x5f, 0x7e].contains(byte)  // - . _ ~
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
