internal import GannetBase

/// Makes file names from parts of a URL. Plain letters, digits and `._-` stay, and all other bytes become `_`.
enum SafeName {
    /// The last part of a file's name.
    static func hint(_ bytes: some Collection<UInt8>) -> String {
        var plain = bytes.map { isPlain($0) ? $0 : UInt8(ascii: "_") }
        replaceLastDot(&plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// A folder's name. It is not hidden, does not look like an option, is not a device of Windows, and does not begin like a body's name.
    static func folder(_ bytes: some Collection<UInt8>) -> String {
        var plain: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) { plain.append(byte) } else if plain.last != UInt8(ascii: "_") { plain.append(UInt8(ascii: "_")) }
        }
        if let first = plain.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "-") { plain[0] = UInt8(ascii: "_") }
        replaceLastDot(&plain)
        let name = String(decoding: plain, as: UTF8.self)
        if name.isEmpty || isDevice(name) || beginsLikeBody(plain) { return "_" + name }
        return name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Windows drops a dot at the end of a name.
    private static func replaceLastDot(_ name: inout [UInt8]) {
        if name.last == UInt8(ascii: ".") { name[name.count - 1] = UInt8(ascii: "_") }
    }

    private static func isDevice(_ name: String) -> Bool {
        let base = name.prefix { $0 != "." }.lowercased()
        if ["con", "prn", "aux", "nul"].contains(base) { return true }
        return base.count == 4 && (base.hasPrefix("com") || base.hasPrefix("lpt")) && base.last?.isNumber == true
    }

    private static func beginsLikeBody(_ name: [UInt8]) -> Bool {
        name.count >= 32 && name.prefix(32).allSatisfy { $0.hexadecimalDigit != nil }
    }
}
