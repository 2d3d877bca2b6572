internal import GannetBase
internal import GannetHTTP
package import GannetQueue

/// How the files of bodies are named. Every name holds its URL's id. Every path has a folder of the id's first three digits, so that 10
/// million bodies make some 2500 files per folder.
package enum NameStyle: String, Sendable, CaseIterable {
    /// `3fa/3fa94c…-cat.jpg`
    case hash
    /// `example.com/3fa/pets/3fa94c…-cat.jpg`
    case path
    /// `example.com/3fa/3fa94c…-cat.jpg`
    case host
}

/// The path of a body's file: safe on any file system, unique to its URL, recognisable, and the same each time.
///
/// The id at the beginning of the file's name makes it unique, also on file systems that ignore case. No folder's name begins like an id.
/// A path has at most 240 bytes.
package struct BodyName: Equatable {
    package let relativePath: String

    private static let longestHint = 80
    private static let longestHintBehindPath = 50
    private static let longestHost = 63
    private static let longestFolder = 40
    package static let mostBytes = 240
    private static let fanOutDigits = 3

    /// The names of all folders that a folder of bodies may have directly in it, with the style `hash`.
    static var fanOutFolders: [String] {
        (0..<(1 << (4 * fanOutDigits))).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: fanOutDigits - digits.utf8.count) + digits
        }
    }

    /// Whether the name is that of a folder for bodies whose ids begin alike.
    static func isFanOut(_ name: String) -> Bool {
        name.utf8.count == fanOutDigits && name.utf8.allSatisfy { $0.hexadecimalDigit != nil }
    }

    /// - Parameter ending: Of a picture that is made of the body, in place of that of the URL.
    package init(of url: String, id: URLID, style: NameStyle = .hash, ending: String? = nil) {
        let digits = id.bytes.hexadecimal
        let hint = Self.hint(from: url, longest: style == .path ? Self.longestHintBehindPath : Self.longestHint)
        let file = Self.file(hint.isEmpty ? digits : "\(digits)-\(hint)", ending)
        let fanOut = String(digits.prefix(Self.fanOutDigits))
        var parts: [String] = []
        if style != .hash {
            let canonical = try? CanonicalURL(url)
            parts.append(Self.host(canonical?.host ?? ""))
            parts.append(fanOut)
            if style == .path, let canonical {
                let room = Self.mostBytes - file.utf8.count - parts.reduce(0) { $0 + $1.utf8.count + 1 }
                parts += Self.folders(of: canonical.text, within: room)
            }
        } else {
            parts.append(fanOut)
        }
        relativePath = (parts + [file]).joined(separator: "/")
    }

    private static let pictureEndings = ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "avif", "bmp", "tif", "tiff", "ico", "svg"]
    /// Room for `.webp`.
    private static let longestEnding = 5

    /// `…-cat.png` becomes `…-cat.jpg`, and `…-cat.php` becomes `…-cat.php.jpg`.
    private static func file(_ name: String, _ ending: String?) -> String {
        guard let ending else { return name }
        var stem = Substring(name)
        if let dot = name.lastIndex(of: "."), pictureEndings.contains(name[name.index(after: dot)...].lowercased()) { stem = name[..<dot] }
        return stem.prefix(longestHint + URLID.count * 2 + 1 - longestEnding) + ".\(ending)"
    }

    /// People recognise a host by the end of its name.
    private static func host(_ host: String) -> String {
        let name = safeFolder(host.utf8.suffix(longestHost))
        // The manifest lies beside the folders of hosts.
        return name.lowercased() == Manifest.name ? "_" + name : name
    }

    /// The folders of a URL's path, or the first of them if there is no room for all.
    private static func folders(of url: String, within room: Int) -> [String] {
        var room = room
        var folders: [String] = []
        for part in path(of: url).dropLast() where !part.isEmpty {
            let name = safeFolder([UInt8].percentDecoded(part).bytes.prefix(longestFolder))
            room -= name.utf8.count + 1
            guard room >= 0 else { break }
            folders.append(name)
        }
        return folders
    }

    /// The last component of the URL's path, of which only plain letters, digits and `._-` remain.
    private static func hint(from url: String, longest: Int) -> String {
        guard let last = path(of: url).last else { return "" }
        // The end of the name holds the file's type.
        return safeHint(last.suffix(longest))
    }

    /// The parts between the slashes behind the host.
    private static func path(of url: String) -> [Substring.UTF8View] {
        // Bytes, not characters: what follows a slash may combine with it.
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        // Any number of slashes may stand here. The text between them and the next slash may hold a password.
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let authority = path[path.index(after: colon)...].drop(while: isSlash)
        return Array(authority.split(omittingEmptySubsequences: false, whereSeparator: isSlash).dropFirst())
    }
}

/// Makes file names from parts of a URL. Plain letters, digits and `._-` stay, and all other bytes become `_`.
extension BodyName {
    /// The last part of a file's name.
    private static func safeHint(_ bytes: some Collection<UInt8>) -> String {
        var plain = bytes.map { isPlain($0) ? $0 : UInt8(ascii: "_") }
        replaceLastDot(&plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// A folder's name. It is not hidden, does not look like an option, is not a device of Windows, and does not begin like a body's name.
    private static func safeFolder(_ bytes: some Collection<UInt8>) -> String {
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

    private static func isPlain(_ byte: UInt8) -> Bool { byte.isPlain || byte == UInt8(ascii: ".") }

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

extension UInt8 {
    /// A letter or digit of ASCII, `-` or `_`.
    var isPlain: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
