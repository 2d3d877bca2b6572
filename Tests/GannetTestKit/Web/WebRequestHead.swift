/// The first request in the bytes that a connection has received.
struct WebRequestHead {
    let path: WebPath
    /// The bytes that the head takes, with the empty line at its end.
    let length: Int
    let keepsConnection: Bool
    let isHead: Bool

    static let longest = 32 << 10

    /// Nil while the head is not complete.
    /// - Parameter start: The first byte of the request in `bytes`.
    init?(_ bytes: [UInt8], from start: Int) {
        guard let end = Self.end(bytes, from: start) else { return nil }
        length = end - start
        let line = bytes[start..<(bytes[start..<end].firstIndex(of: 0x0d) ?? end)]
        let words = line.split(separator: 0x20, maxSplits: 2)
        isHead = words.first?.elementsEqual("HEAD".utf8) ?? false
        path = words.count > 1 ? WebPath(words[1]) : .other
        let isCurrent = words.count > 2 && words[2].elementsEqual("HTTP/1.1".utf8)
        keepsConnection = isCurrent && !Self.closes(bytes[start..<end])
    }

    private static func end(_ bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var index = start + 3
            while index < bytes.count {
                // The last byte of the empty line, and the end of the line before.
                if bytes[index] == 0x0a, bytes[index - 1] == 0x0d, bytes[index - 2] == 0x0a { return index + 1 }
                index += 1
            }
            return nil
        }
    }

    /// Whether a header says `Connection: close`.
    private static func closes(_ head: ArraySlice<UInt8>) -> Bool {
        let name = Array("\nconnection: close".utf8)
        return head.withUnsafeBufferPointer { head in
            var index = 0
            while index + name.count <= head.count {
                if head[index] == 0x0a, (0..<name.count).allSatisfy({ head[index + $0] | (name[$0] > 0x40 ? 0x20 : 0) == name[$0] }) {
                    return true
                }
                index += 1
            }
            return false
        }
    }
}
