import GannetBase
import GannetHTTP
import GannetQueue
import Results

extension FuzzTarget {
    /// The input is a byte that says how files are named, and a URL. No other text names a body's file.
    static let names = FuzzTarget(name: "names", maximumLength: 1024) {
        [
            "http://h/a/cat.jpg?x=1#y", "http://h/../../etc/passwd", "http://h/..%2f..%2fetc%2fpasswd", "http://h/a%00b/%0a/%1b[2J",
            "https://CON/aux/nul.txt/com1", "http://user:secret@h/x", "http://h/-rf/.gannet/journal", "http://h/.hidden/../..",
            "http://manifest.jsonl/manifest.jsonl", "http://h/3f0102030405060708090a0b0c0d0e0f/x", "http://[::1]:8080/a.",
            "http:\\\\h\\..\\a", "http://b\u{fc}cher.example/\u{fc}/x\u{301}", "h", "", "http://h/" + String(repeating: "ä/", count: 60),
        ].flatMap { url in (0..<3).map { [UInt8($0)] + Array(url.utf8) } }
    } check: { (input) throws(BrokenInvariant) in
        guard let first = input.first else { return }
        let styles = NameStyle.allCases
        let style = styles[Int(first) % styles.count]
        let url = String(decoding: input.dropFirst(), as: UTF8.self)
        let id = (try? CanonicalURL(url)).flatMap { URLID($0.id) } ?? URLID(Array(SHA256Digest(of: url.utf8).bytes.prefix(16)))
        guard let id, let other = URLID(id.bytes.reversed()) else { throw BrokenInvariant(description: "a URL has no id") }
        let path = BodyName(of: url, id: id, style: style).relativePath
        try check(path, of: url, id, style)
        try require(BodyName(of: url, id: id, style: style).relativePath == path, "\(path) is named otherwise the next time")
        // Some file systems do not tell capital letters from small ones.
        let second = BodyName(of: url, id: other, style: style).relativePath
        try require(other == id || second.lowercased() != path.lowercased(), "two URLs have the file \(path)")
    }

    private static func check(_ path: String, of url: String, _ id: URLID, _ style: NameStyle) throws(BrokenInvariant) {
        func say(_ why: String) -> String { "\(url.debugDescription) is named \(path.debugDescription): \(why)" }
        try require(BodyFolder.isWithin(path) && !path.hasPrefix("/"), say("it is outside"))
        try require(path.utf8.count <= BodyName.mostBytes, say("it has \(path.utf8.count) bytes"))
        let isPlain = { (byte: UInt8) in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for part in parts {
            try require(!part.isEmpty && part.utf8.allSatisfy(isPlain) && part.utf8.count <= 255, say("a part is not plain"))
            try require(!part.hasPrefix(".") && !part.hasPrefix("-") && !part.hasSuffix("."), say("a part is hidden or an option"))
            try require(!isDevice(part), say("a part is a device"))
        }
        let digits = id.bytes.hexadecimal
        try require(parts.last?.hasPrefix(digits) == true, say("it has no id"))
        try require(!parts.dropLast().contains { beginsLikeBody($0) }, say("a folder is named like a body"))
        try require(parts.contains(digits.prefix(3)), say("it has no folder of its digits"))
        try require(!["manifest.jsonl", ".gannet"].contains(parts[0].lowercased()), say("it stands where the run's own files are"))
        try require(parts.count == 2 || style != .hash, say("it has \(parts.count) parts"))
    }

    private static func beginsLikeBody(_ part: Substring) -> Bool {
        part.utf8.count >= 32 && part.utf8.prefix(32).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 | 0x20 }
    }

    /// A name that Windows takes for a device, whatever follows its first dot.
    private static func isDevice(_ part: Substring) -> Bool {
        let base = part.prefix { $0 != "." }.lowercased()
        let isNumbered = base.utf8.count == 4 && base.utf8.last.map { 0x30...0x39 ~= $0 } ?? false
        return ["con", "prn", "aux", "nul"].contains(base) || isNumbered && (base.hasPrefix("com") || base.hasPrefix("lpt"))
    }
}
