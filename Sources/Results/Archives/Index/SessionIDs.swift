internal import GannetBase

/// Ids of sessions, which keys leave out: two visits of one page have one key. Each kind goes once, at its last place.
enum SessionIDs {
    // MARK: Queries

    /// `jsessionid=` and the like, with values of exactly these lengths.
    static func removed(fromQuery query: [UInt8]) -> [UInt8] {
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

    // MARK: Paths

    /// `/(S(24 letters))/` and `/(24 letters)/` before the name of an `.aspx` page.
    static func removed(fromPath path: [UInt8]) -> [UInt8] {
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

    // MARK: Letters

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
