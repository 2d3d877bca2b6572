internal import ClusterState

/// What a body's file is called: safe on any file system, unique to its URL, and recognisable.
///
/// `3f/3fa94c…-cat.jpg`: the URL's id, then the last part of its path as far as it is harmless. The folder is the id's first byte,
/// so that a million bodies are some four thousand to a folder.
struct BodyName: Equatable {
    let folder: String
    let relativePath: String

    private static let longestHint = 80

    init(of url: String, id: URLID) {
        let hex = id.bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        folder = hex[0]
        let hint = Self.hint(from: url)
        relativePath = "\(folder)/\(hex.joined())\(hint.isEmpty ? "" : "-")\(hint)"
    }

    /// The last component of the URL's path, of which only plain letters, digits and `._-` remain.
    private static func hint(from url: String) -> String {
        // Bytes, not characters: what follows a slash may combine with it.
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")) else { return "" }
        // libcurl takes one to three slashes here; what stands between these and the next may be a password.
        let authority = path[path.index(after: colon)...].drop { $0 == UInt8(ascii: "/") }
        guard let slash = authority.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        let plain = authority[authority.index(after: slash)...].map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                byte
            default: UInt8(ascii: "_")
            }
        }
        // The end is what people know a file by: its type.
        return String(decoding: plain.suffix(longestHint), as: UTF8.self)
    }
}
