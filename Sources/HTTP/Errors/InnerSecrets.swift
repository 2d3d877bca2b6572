internal import GannetBase

/// Finds secrets behind the host of a URL: the values of secret parameters in its path and its query.
///
/// A URL may stand inside this one, escaped once or several times. Its secret parameters are found too, and its user and password.
struct InnerSecrets {
    /// A byte, however it is written: `=`, `%3D` and `%253D` are the same byte.
    private struct Unit {
        let byte: UInt8
        /// How often it is escaped.
        let depth: Int
        /// Where it stands in the text.
        let range: Range<Int>
        var isHidden = false
        /// Whether a hidden value comes next.
        var standsBeforeValue = false
    }

    private let text: [UInt8]
    private var units: [Unit] = []

    /// The text without these secrets. A value becomes `…`.
    static func hidden(in url: String) -> String {
        // Without an equals sign there is no parameter, and without an at sign there is no user.
        guard url.utf8.contains(where: { $0 == 0x3d || $0 == 0x40 || $0 == 0x25 }) else { return url }
        var secrets = InnerSecrets(Array(url.utf8))
        secrets.hideUsers()
        secrets.hideValues()
        return secrets.units.contains { $0.isHidden || $0.standsBeforeValue } ? secrets.shown : url
    }

    private init(_ text: [UInt8]) {
        self.text = text
        units.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let unit = Self.unit(at: index, in: text)
            units.append(unit)
            index = unit.range.upperBound
        }
    }

    private static func unit(at start: Int, in text: [UInt8]) -> Unit {
        var digits = start + 1
        var depth = 1
        if text[start] == 0x25 {
            while let byte = escaped(at: digits, in: text) {
                // An escaped percent sign before two further digits is the beginning of another escape.
                guard byte == 0x25, escaped(at: digits + 2, in: text) != nil else {
                    return Unit(byte: byte, depth: depth, range: start..<(digits + 2))
                }
                digits += 2
                depth += 1
            }
        }
        return Unit(byte: text[start], depth: 0, range: start..<(start + 1))
    }

    /// The byte of two hexadecimal digits.
    private static func escaped(at index: Int, in text: [UInt8]) -> UInt8? {
        guard index + 1 < text.count, let high = text[index].hexadecimalDigit, let low = text[index + 1].hexadecimalDigit else {
            return nil
        }
        return high << 4 | low
    }

    private var shown: String {
        var bytes: [UInt8] = []
        for unit in units {
            if !unit.isHidden { bytes += text[unit.range] }
            if unit.standsBeforeValue { bytes += Array("…".utf8) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Users

    /// The URLs in a URL that are looked at. A text with more of them is shown up to there.
    private static let mostURLs = 100

    private mutating func hideUsers() {
        guard let lastAt = units.lastIndex(where: { $0.byte == 0x40 }) else { return }
        var count = 0
        var index = 0
        while index < lastAt {
            defer { index += 1 }
            guard let start = startOfHost(behind: index), start <= lastAt else { continue }
            count += 1
            guard count <= Self.mostURLs else {
                units[index].standsBeforeValue = true
                hide((index + 1)..<units.endIndex)
                return
            }
            // A mark that is escaped as often as the URL may be a part of its password. In a URL that is not escaped it ends the parameter.
            let depth = max(1, units[index].depth)
            let end = units[start...].firstIndex { $0.byte == 0x26 && $0.depth < depth } ?? units.endIndex
            guard let user = RedactedURL.userInfo(units[start..<end].map(\.byte), from: 0, endsAtFragment: false) else { continue }
            hide(start..<(start + user.upperBound))
        }
    }

    /// The index behind the slashes of a URL that begins at this colon, or at the slashes behind this equals sign.
    private func startOfHost(behind index: Int) -> Int? {
        guard [UInt8(ascii: ":"), UInt8(ascii: "=")].contains(units[index].byte) else { return nil }
        let slashes = units[(index + 1)...].prefix { $0.byte == 0x2f || $0.byte == 0x5c || $0.byte <= 0x20 }
        let count = slashes.count { $0.byte > 0x20 }
        switch units[index].byte {
        case UInt8(ascii: ":") where count >= 2 || isWebScheme(before: index): return slashes.endIndex
        case UInt8(ascii: "=") where count >= 2: return slashes.endIndex
        default: return nil
        }
    }

    private func isWebScheme(before colon: Int) -> Bool {
        let text = String(decoding: units[..<colon].suffix(5).map(\.byte), as: UTF8.self).lowercased()
        return text.hasSuffix("http") || text == "https"
    }

    // MARK: Parameters

    /// Hides each value whose name is secret. A name begins behind a mark that separates parameters, or parts of a URL.
    private mutating func hideValues() {
        var nameStart = 0
        var isInQuery = false
        var index = 0
        while index < units.count {
            let unit = units[index]
            index += 1
            switch unit.byte {
            case UInt8(ascii: "?"):
                isInQuery = isInQuery || unit.depth == 0
                nameStart = index
            case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "/"), UInt8(ascii: "#"):
                nameStart = index
            case UInt8(ascii: "="):
                let isSecret = SecretNames.hasParameter(units[nameStart..<(index - 1)].lazy.map(\.byte))
                nameStart = index
                guard isSecret else { break }
                // A mark that is escaped more often than the equals sign is a part of the value.
                let end =
                    units[index...].firstIndex { mark in
                        mark.depth <= unit.depth && (isInQuery ? mark.byte == 0x26 : mark.byte == 0x2f || mark.byte == 0x3f)
                    } ?? units.endIndex
                units[index - 1].standsBeforeValue = true
                hide(index..<end)
                (index, nameStart) = (end, end)
            default: break
            }
        }
    }

    private mutating func hide(_ range: Range<Int>) {
        for index in range { units[index].isHidden = true }
    }
}
