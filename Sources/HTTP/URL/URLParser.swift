/// The states of the standard's basic URL parser through which http and https URLs pass.
///
/// The states come in the order of a URL's parts, so each appends its part to the output. Only `..` takes something back.
struct URLParser {
    private let input: [UInt8]
    private var next = 0
    private var output: [UInt8] = []
    private var isSecure = false
    private var port: Int?
    private var offsets = CanonicalURL.Offsets()

    static func parse(_ text: [UInt8], base: CanonicalURL?) throws(RequestRejection) -> CanonicalURL {
        var parser = URLParser(text)
        try parser.schemeStart(base)
        return CanonicalURL(
            text: String(decoding: parser.output, as: UTF8.self), isSecure: parser.isSecure, port: parser.port, offsets: parser.offsets)
    }

    private init(_ text: [UInt8]) {
        input = Self.cleaned(text)
        // Room for a path and some escapes.
        output.reserveCapacity(input.count + 16)
    }

    /// Without blanks and control characters at both ends, and without tabs and line breaks.
    private static func cleaned(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { $0 <= 0x20 }) else { return text }
        guard let first = text.firstIndex(where: { $0 > 0x20 }), let last = text.lastIndex(where: { $0 > 0x20 }) else { return [] }
        return text[first...last].filter { $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
    }

    private func has(_ byte: Unicode.Scalar, at index: Int) -> Bool { index < input.count && input[index] == UInt8(ascii: byte) }

    private func hasSlash(at index: Int) -> Bool { has("/", at: index) || has("\\", at: index) }

    // MARK: Scheme

    private mutating func schemeStart(_ base: CanonicalURL?) throws(RequestRejection) {
        guard let colon = schemeEnd else {
            guard let base else { throw .noScheme }
            isSecure = base.isSecure
            return try relative(to: base)
        }
        let scheme = input[..<colon].lazy.map { $0 | 0x20 }
        if scheme.elementsEqual("https".utf8) {
            isSecure = true
        } else if !scheme.elementsEqual("http".utf8) {
            throw refusal(of: input[..<colon])
        }
        next = colon + 1
        // `http:a/b` is relative to a base of that scheme. Two backslashes are no exception, and reach the same end.
        if let base, base.isSecure == isSecure, !(has("/", at: next) && has("/", at: next + 1)) { return try relative(to: base) }
        try absolute()
    }

    /// Where the colon behind the scheme is; nil without a scheme.
    private var schemeEnd: Int? {
        guard let first = input.first, 0x61...0x7a ~= first | 0x20 else { return nil }
        let end = input.firstIndex { !$0.isLetterOrDigit && $0 != 0x2b && $0 != 0x2d && $0 != 0x2e }
        return end.flatMap { has(":", at: $0) ? $0 : nil }
    }

    /// "localhost:8080/x" lacks a scheme for its author, "mailto:someone" has one; only the latter deserves to be quoted.
    private func refusal(of scheme: ArraySlice<UInt8>) -> RequestRejection {
        let isNumber = scheme.endIndex + 1 < input.count && 0x30...0x39 ~= input[scheme.endIndex + 1]
        guard !isNumber, scheme.count <= 16, scheme.allSatisfy({ 0x61...0x7a ~= $0 | 0x20 }) else { return .noScheme }
        return .unsupportedScheme(String(decoding: scheme.map { $0 | 0x20 }, as: UTF8.self))
    }

    // MARK: References

    private mutating func relative(to base: CanonicalURL) throws(RequestRejection) {
        if hasSlash(at: next) {
            if hasSlash(at: next + 1) { return try absolute() }
            next += 1
            take(base, upTo: base.offsets.path)
            return path()
        }
        let pathEnd = base.offsets.query ?? base.text.utf8.count
        if next == input.count || has("#", at: next) {
            take(base, upTo: base.text.utf8.count)
            offsets.query = base.offsets.query
        } else if has("?", at: next) {
            take(base, upTo: pathEnd)
            query()
        } else {
            take(base, upTo: pathEnd)
            shortenPath()
            path()
        }
    }

    private mutating func take(_ base: CanonicalURL, upTo end: Int) {
        output += base.text.utf8.prefix(end)
        port = base.givenPort
        offsets = base.offsets
        offsets.query = nil
    }

    // MARK: Authority

    private mutating func absolute() throws(RequestRejection) {
        output += isSecure ? "https://".utf8 : "http://".utf8
        while hasSlash(at: next) { next += 1 }
        try authority()
        if hasSlash(at: next) { next += 1 }
        path()
    }

    private mutating func authority() throws(RequestRejection) {
        var end = next
        while end < input.count, !hasSlash(at: end), !endsPath(end) { end += 1 }
        if let sign = input[next..<end].lastIndex(of: UInt8(ascii: "@")) {
            credentials(input[next..<sign])
            next = sign + 1
        }
        offsets.host = output.count
        let colon = portColon(before: end)
        let host = input[next..<(colon ?? end)]
        guard !host.isEmpty else { throw .noHost }
        try Self.append(host: host, to: &output)
        offsets.hostEnd = output.count
        if let colon { try readPort(input[(colon + 1)..<end]) }
        offsets.path = output.count
        next = end
    }

    private mutating func credentials(_ text: ArraySlice<UInt8>) {
        let user = text.prefix { $0 != UInt8(ascii: ":") }
        let password = text[user.endIndex...].dropFirst()
        guard !user.isEmpty || !password.isEmpty else { return }
        output.append(user, escaping: .userInfo)
        if !password.isEmpty {
            output.append(UInt8(ascii: ":"))
            output.append(password, escaping: .userInfo)
        }
        output.append(UInt8(ascii: "@"))
    }

    /// The first colon outside brackets.
    private func portColon(before end: Int) -> Int? {
        var isInBrackets = false
        for index in next..<end {
            switch input[index] {
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ":") where !isInBrackets: return index
            default: break
            }
        }
        return nil
    }

    private mutating func readPort(_ digits: ArraySlice<UInt8>) throws(RequestRejection) {
        guard !digits.isEmpty else { return }
        var number = 0
        for digit in digits {
            guard 0x30...0x39 ~= digit else { throw .badPort }
            number = number * 10 + Int(digit - 0x30)
            guard number <= 65535 else { throw .badPort }
        }
        guard number != (isSecure ? 443 : 80) else { return }
        port = number
        output += ":\(number)".utf8
    }

    // MARK: Path and query

    private func endsPath(_ index: Int) -> Bool { has("?", at: index) || has("#", at: index) }

    private mutating func path() {
        var hasMore = true
        while hasMore {
            let start = next
            while next < input.count, !hasSlash(at: next), !endsPath(next) { next += 1 }
            hasMore = hasSlash(at: next)
            switch Self.dots(in: input[start..<next]) {
            case 0:
                output.append(UInt8(ascii: "/"))
                output.append(input[start..<next], escaping: .path)
            case 2:
                shortenPath()
                fallthrough
            default:
                if !hasMore { output.append(UInt8(ascii: "/")) }
            }
            if hasMore { next += 1 }
        }
        query()
    }

    /// 1 for a segment that means its folder, 2 for one that means the folder above, 0 for names.
    private static func dots(in segment: ArraySlice<UInt8>) -> Int {
        guard (1...6).contains(segment.count) else { return 0 }
        var rest = segment
        var count = 0
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, rest.removeFirst() == UInt8(ascii: "2") {
                guard rest.removeFirst() | 0x20 == UInt8(ascii: "e") else { return 0 }
            } else if byte != UInt8(ascii: ".") {
                return 0
            }
            count += 1
        }
        return count > 2 ? 0 : count
    }

    private mutating func shortenPath() {
        guard let slash = output[offsets.path...].lastIndex(of: UInt8(ascii: "/")) else { return }
        output.removeSubrange(slash...)
    }

    private mutating func query() {
        guard has("?", at: next) else { return }
        offsets.query = output.count
        output.append(UInt8(ascii: "?"))
        output.append(input[(next + 1)...].prefix { $0 != UInt8(ascii: "#") }, escaping: .query)
    }
}
