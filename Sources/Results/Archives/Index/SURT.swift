internal import GannetBase

/// The keys of an index: a URL's host with its parts turned round, then its path and query in one spelling.
///
/// A reader looks for exactly the key that it makes itself. So this follows the rules of the `surt` package, which pywb uses, for all URLs that the
/// engine's parser has written. Escapes are undone and done once. A `www.`, a usual port and a session's id go. All letters become small.
package enum SURT {
    package static func key(_ url: String) -> String {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].starts(with: "//".utf8) else { return url }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        var rest = bytes[(colon + 3)...].prefix { $0 != UInt8(ascii: "#") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        rest = rest.dropFirst(authority.count)
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        let query = rest.dropFirst(path.count + 1)

        var key = hostKey(authority, scheme: scheme)
        key += ")".utf8
        key += pathKey(Array(path))
        let queryPart = queryKey(Array(query))
        if !queryPart.isEmpty { key += [UInt8(ascii: "?")] + queryPart }
        return String(decoding: key, as: UTF8.self)
    }

    // MARK: Hosts

    private static func hostKey(_ authority: ArraySlice<UInt8>, scheme: String) -> [UInt8] {
        var (host, port) = splitPort(authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? [])
        host = undone(host)
        var parts = host.split(separator: UInt8(ascii: ".")).map { Array($0) }
        if parts.count > 1, isWWW(parts[0]) { parts.removeFirst() }
        let usual = scheme == "http" ? "80" : scheme == "https" ? "443" : ""
        var key = lowercased(escaped(Array(parts.reversed().joined(separator: [UInt8(ascii: ",")]))))
        if !port.isEmpty, !port.elementsEqual(usual.utf8) { key += [UInt8(ascii: ":")] + port }
        return key
    }

    /// The colons of an address of version 6 stand in brackets, which go.
    private static func splitPort(_ text: ArraySlice<UInt8>) -> (host: [UInt8], port: ArraySlice<UInt8>) {
        if text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) {
            return (Array(text[text.startIndex + 1..<end]), text[(end + 1)...].dropFirst())
        }
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")) else { return (Array(text), []) }
        return (Array(text[..<colon]), text[(colon + 1)...])
    }

    private static func isWWW(_ part: [UInt8]) -> Bool {
        lowercased(part).starts(with: "www".utf8) && part.dropFirst(3).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    // MARK: Paths

    private static func pathKey(_ path: [UInt8]) -> [UInt8] {
        var kept: [[UInt8]] = []
        for part in undone(path).split(separator: slash, omittingEmptySubsequences: false).dropFirst() {
            switch part.count {
            case 1 where part.elementsEqual(".".utf8): break
            case 2 where part.elementsEqual("..".utf8): if kept.isEmpty { kept.append(Array(part)) } else { kept.removeLast() }
            default: kept.append(Array(part))
            }
        }
        // Only the last part may be empty: two slashes are one.
        let last = kept.popLast() ?? []
        var key = [slash] + kept.filter { !$0.isEmpty }.flatMap { $0 + [slash] } + last
        key = SessionIDs.removed(fromPath: lowercased(escaped(key)))
        if key.count > 1, key.last == slash { key.removeLast() }
        return key
    }

    private static let slash = UInt8(ascii: "/")

    // MARK: Queries

    private static func queryKey(_ query: [UInt8]) -> [UInt8] {
        let plain = lowercased(SessionIDs.removed(fromQuery: escaped(undone(query))))
        guard plain.count > 1 else { return plain }
        // A name without a value comes before the same name with one, however the value begins.
        let fields = plain.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { field -> [ArraySlice<UInt8>] in
            field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        }
        let sorted = fields.sorted { $0.lexicographicallyPrecedes($1) { $0.lexicographicallyPrecedes($1) } }
        return Array(sorted.map { Array($0.joined(separator: [UInt8(ascii: "=")])) }.joined(separator: [UInt8(ascii: "&")]))
    }

    // MARK: Bytes

    /// Until nothing is left to undo. Each round makes the text shorter, so there are few.
    private static func undone(_ text: [UInt8]) -> [UInt8] {
        var text = text
        while text.contains(UInt8(ascii: "%")) {
            let next = [UInt8].percentDecoded(text).bytes
            if next.count == text.count { break }
            text = next
        }
        return text
    }

    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text {
            if byte > 0x20, byte < 0x7f, byte != UInt8(ascii: "%"), byte != UInt8(ascii: "#") {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return result
    }

    static func lowercased(_ text: [UInt8]) -> [UInt8] {
        text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }
}
