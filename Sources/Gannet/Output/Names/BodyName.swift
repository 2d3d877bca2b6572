internal import ClusterState
internal import HTTPEngine

/// What a body's file is called: safe on any file system, unique to its URL, recognisable, and the same each time.
///
/// The id comes first in the file's name and is what makes it unique, also where upper and lower case are the same; no folder's name begins
/// like one. In all a name has at most 240 bytes.
struct BodyName: Equatable {
    let relativePath: String

    private static let longestHint = 80
    private static let longestHintBehindPath = 50
    private static let longestHost = 63
    private static let longestFolder = 40
    private static let mostBytes = 240
    private static let fanOutDigits = 3

    init(of url: String, id: URLID, style: NameStyle = .hash) {
        let digits = id.bytes.hexadecimal
        let hint = Self.hint(from: url, longest: style == .path ? Self.longestHintBehindPath : Self.longestHint)
        let file = hint.isEmpty ? digits : "\(digits)-\(hint)"
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

    /// The end of a host's name is what it is known by.
    private static func host(_ host: String) -> String {
        let name = SafeName.folder(host.utf8.suffix(longestHost))
        // The one file that lies beside them.
        return name.lowercased() == Manifest.name ? "_" + name : name
    }

    /// The folders of a URL's path, the first ones where there is no room for all.
    private static func folders(of url: String, within room: Int) -> [String] {
        var room = room
        var folders: [String] = []
        for part in path(of: url).dropLast() where !part.isEmpty {
            let name = SafeName.folder(SafeName.unescaped(part).prefix(longestFolder))
            room -= name.utf8.count + 1
            guard room >= 0 else { break }
            folders.append(name)
        }
        return folders
    }

    /// The last component of the URL's path, of which only plain letters, digits and `._-` remain.
    private static func hint(from url: String, longest: Int) -> String {
        guard let last = path(of: url).last else { return "" }
        // The end is what people know a file by: its type.
        return SafeName.hint(last.suffix(longest))
    }

    /// The parts between the slashes behind the host.
    private static func path(of url: String) -> [Substring.UTF8View] {
        // Bytes, not characters: what follows a slash may combine with it.
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        // libcurl takes one to three slashes here; what stands between these and the next may be a password.
        let authority = path[path.index(after: colon)...].drop { $0 == UInt8(ascii: "/") }
        return Array(authority.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst())
    }
}
