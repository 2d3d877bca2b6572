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
        key = removed(fromPath: lowercased(escaped(key)))
        if key.count > 1, key.last == slash { key.removeLast() }
        return key
    }

    private static let slash = UInt8(ascii: "/")

    // MARK: Queries

    private static func queryKey(_ query: [UInt8]) -> [UInt8] {
        let plain = lowercased(removed(fromQuery: escaped(undone(query))))
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

    private static func lowercased(_ text: [UInt8]) -> [UInt8] {
        text.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }
}

/// Ids of sessions, which keys leave out: two visits of one page have one key. Each kind goes once, at its last place.
extension SURT {
    /// `jsessionid=` and the like, with values of exactly these lengths.
    private static func removed(fromQuery query: [UInt8]) -> [UInt8] {
        var query = query
        for name in ["jsessionid=", "phpsessid=", "sid="] {
            query = removing(query) { value($0, after: name, letters: 32, isAlphanumeric) }
        }
        query = removing(query) { text in
            guard let name = value(text, after: "aspsessionid", letters: 8, isLetter) else { return nil }
            return value(name, after: "=", letters: 24, isLetter)
        }
        return removing(query) { text in
            guard let id = nonempty(text, after: "cfid=") else { return nil }
            return nonempty(id, after: "&cftoken=")
        }
    }

    /// - Parameter match: Takes the id from the front, or answers nil.
    private static func removing(_ query: [UInt8], _ match: (ArraySlice<UInt8>) -> ArraySlice<UInt8>?) -> [UInt8] {
        for start in query.indices.reversed() {
            guard let rest = match(query[start...]), rest.isEmpty || rest.first == UInt8(ascii: "&") else { continue }
            return Array(query[..<start] + rest.dropFirst())
        }
        return query
    }

    private static func value(
        _ text: ArraySlice<UInt8>, after name: String, letters: Int, _ accepts: (UInt8) -> Bool
    ) -> ArraySlice<UInt8>? {
        guard let rest = text.dropping(name), rest.count >= letters, rest.prefix(letters).allSatisfy(accepts) else { return nil }
        return rest.dropFirst(letters)
    }

    private static func nonempty(_ text: ArraySlice<UInt8>, after name: String) -> ArraySlice<UInt8>? {
        guard let rest = text.dropping(name), let first = rest.first, first != UInt8(ascii: "&") else { return nil }
        return rest.drop { $0 != UInt8(ascii: "&") }
    }

    /// `/(S(24 letters))/` and `/(24 letters)/` before the name of an `.aspx` page.
    private static func removed(fromPath path: [UInt8]) -> [UInt8] {
        removingSegment(removingSegment(path, of: groups), of: letters)
    }

    private static func removingSegment(_ path: [UInt8], of id: (ArraySlice<UInt8>) -> ArraySlice<UInt8>?) -> [UInt8] {
        for start in path.indices.reversed() where path[start] == UInt8(ascii: "/") {
            guard let inside = path[(start + 1)...].dropping("("), let end = id(inside), let page = end.dropping(")/") else { continue }
            let name = page.prefix { $0 != UInt8(ascii: "?") }
            guard hasExtension(name) else { continue }
            return Array(path[...start] + page)
        }
        return path
    }

    private static func hasExtension(_ name: ArraySlice<UInt8>) -> Bool {
        name.indices.dropFirst().contains { name[$0...].dropping(".aspx") != nil }
    }

    private static func groups(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var (rest, count) = (text, 0)
        while let first = rest.first, isLetter(first), let inside = rest.dropFirst().dropping("("), let end = letters(in: inside),
            let next = end.dropping(")")
        {
            (rest, count) = (next, count + 1)
        }
        return count > 0 ? rest : nil
    }

    private static func letters(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? { value(text, after: "", letters: 24, isAlphanumeric) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension ArraySlice<UInt8> {
    /// The rest behind a beginning, whose letters may be large or small.
    fileprivate func dropping(_ beginning: String) -> ArraySlice<UInt8>? {
        let wanted = beginning.utf8
        guard count >= wanted.count else { return nil }
        for (byte, other) in zip(self, wanted) {
            let small = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
            if small != other { return nil }
        }
        return dropFirst(wanted.count)
    }
}
