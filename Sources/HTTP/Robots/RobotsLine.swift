/// A line of a robots.txt that has one of the known keys.
struct RobotsLine: Sendable {
    enum Key: Sendable {
        case userAgent, allow, disallow, crawlDelay
    }

    let key: Key
    /// The value's place in the file, without blanks around it.
    let value: Range<Int>
    /// The place of the whole line, without blanks around it and without its comment.
    let text: Range<Int>
    /// Counted from 1.
    let number: Int

    /// Lines end with CR, LF, or both. A `#` begins a comment anywhere. Blanks are the space and the tab.
    static func forEach(in bytes: [UInt8], _ body: (RobotsLine) -> Void) {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        var start = bytes.starts(with: mark) ? mark.count : 0
        var number = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(where: isBreak) ?? bytes.count
            number += 1
            if let line = RobotsLine(in: bytes, start..<end, number: number) { body(line) }
            let isPair = end + 1 < bytes.count && bytes[end] == cr && bytes[end + 1] == lf
            start = end + (isPair ? 2 : 1)
        }
    }

    /// How many of the first `limit` bytes are whole lines.
    static func wholeLines(of bytes: [UInt8], in limit: Int) -> Int {
        if bytes.count <= limit || isBreak(bytes[limit]) { return min(limit, bytes.count) }
        return bytes[..<limit].lastIndex(where: isBreak).map { $0 + 1 } ?? 0
    }

    private init?(in bytes: [UInt8], _ range: Range<Int>, number: Int) {
        let comment = bytes[range].firstIndex(of: UInt8(ascii: "#")) ?? range.upperBound
        text = bytes[range.lowerBound..<comment].trimmedOfBlanks.indices
        guard let colon = bytes[text].firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = bytes[text.lowerBound..<colon].trimmedOfBlanks
        // The longest known key; a long line without one costs nothing more.
        guard name.count <= 11 else { return nil }
        switch String(decoding: name.map(\.lowercased), as: UTF8.self) {
        case "user-agent": key = .userAgent
        case "allow": key = .allow
        case "disallow": key = .disallow
        case "crawl-delay": key = .crawlDelay
        default: return nil
        }
        value = bytes[(colon + 1)..<text.upperBound].trimmedOfBlanks.indices
        self.number = number
    }

    private static let cr: UInt8 = 0x0d
    private static let lf: UInt8 = 0x0a
    private static func isBreak(_ byte: UInt8) -> Bool { byte == cr || byte == lf }
}
