internal import GannetBase

/// The head of a response as a record has it: lines of the wire in their order, in HTTP/1.1 form. Requests have such heads too.
struct HTTPHead: Sendable {
    /// With the empty line at the end.
    let bytes: [UInt8]
    /// Three digits.
    let status: String
    /// The media type without its parameters; nil when there is none.
    let mime: String?

    /// Readers take a head as long as this, and recovery looks no further for a record's head.
    static let longest = 256 << 10

    // MARK: Responses

    /// - Parameter bodyCount: The bytes that follow in the record, of all answers but a 304; nil where that is not known.
    ///
    /// The body's transfer coding is removed already. So a `Transfer-Encoding` field, and a `Content-Length` that is not the body's, get
    /// `X-Archive-Orig-` before their names. With them readers would take the body's bytes for chunks, or wait for more.
    static func response(_ wire: [UInt8], bodyCount: Int?) throws -> HTTPHead {
        var lines = try lines(of: wire)
        let words = lines[0].split(separator: space, maxSplits: 2, omittingEmptySubsequences: true)
        guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3, words[1].allSatisfy({ digits.contains($0) })
        else {
            throw UnfitForArchive("A response does not begin with a status line of HTTP.")
        }
        let bodyCount = words[1].elementsEqual("304".utf8) ? nil : bodyCount
        lines[0] = version(words[0]) + [space] + words[1] + [space] + (words.count > 2 ? words[2] : [])
        var mime: String?
        for (index, line) in lines.enumerated().dropFirst() {
            switch name(of: line) {
            case "transfer-encoding" where bodyCount != nil: lines[index] = Array("X-Archive-Orig-".utf8) + line
            case "content-length":
                guard let bodyCount, value(of: line) != Array("\(bodyCount)".utf8)[...] else { break }
                lines[index] = Array("X-Archive-Orig-".utf8) + line
            case "content-type" where mime == nil:
                let type = value(of: line).prefix { $0 != UInt8(ascii: ";") && $0 != space }
                if !type.isEmpty { mime = String(decoding: type, as: UTF8.self) }
            default: break
            }
        }
        return HTTPHead(bytes: joined(lines), status: String(decoding: words[1], as: UTF8.self), mime: mime)
    }

    // MARK: Requests

    /// Names of fields that are left out. Their values are secrets.
    private static let hidden: Set = ["authorization", "cookie", "proxy-authorization"]

    static func request(_ wire: [UInt8]) throws -> [UInt8] {
        var lines = try lines(of: wire)
        let words = lines[0].split(separator: space)
        guard words.count == 3, words[2].starts(with: "HTTP/".utf8) else {
            throw UnfitForArchive("A request does not begin with a request line of HTTP.")
        }
        lines[0] = words[0] + [space] + words[1] + [space] + version(words[2])
        var isHidden = false
        let kept = lines.dropFirst().filter { line in
            // A line that begins with a blank goes on with the field before it.
            if let first = line.first, first != space, first != UInt8(ascii: "\t") { isHidden = hidden.contains(name(of: line)) }
            return !isHidden
        }
        return joined([lines[0]] + kept)
    }

    // MARK: Lines

    private static let space = UInt8(ascii: " ")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The lines up to the first empty one. A zero byte and a carriage return inside a line, which readers stumble over, become blanks.
    private static func lines(of wire: [UInt8]) throws -> [[UInt8]] {
        guard wire.count <= longest else {
            throw UnfitForArchive(
                "A head of \(wire.count) bytes is longer than the \(longest) bytes that a record may have.")
        }
        var lines: [[UInt8]] = []
        for line in wire.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if text.isEmpty { break }
            lines.append(text.map { $0 == 0 || $0 == UInt8(ascii: "\r") ? space : $0 })
        }
        guard !lines.isEmpty else { throw UnfitForArchive("A head is empty.") }
        return lines
    }

    private static func joined(_ lines: [[UInt8]]) -> [UInt8] {
        let end = Array("\r\n".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(2) { $0 + $1.count + 2 })
        for line in lines { bytes += line + end }
        return bytes + end
    }

    /// Readers of WARC know HTTP/1.0 and HTTP/1.1 alone. `WARC-Protocol` says which version it was.
    private static func version(_ word: ArraySlice<UInt8>) -> [UInt8] {
        word.elementsEqual("HTTP/1.0".utf8) ? Array(word) : Array("HTTP/1.1".utf8)
    }

    private static func name(of line: [UInt8]) -> String {
        String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
    }

    private static func value(of line: [UInt8]) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == space || byte == UInt8(ascii: "\t") }
        var value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst().drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return value
    }
}
