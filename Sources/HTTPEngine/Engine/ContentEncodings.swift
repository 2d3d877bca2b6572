/// Gathers how a body is encoded from the header lines of one answer, as they come.
struct ContentEncodings {
    /// In small letters and the order in which they were applied; none that changes nothing.
    private(set) var names: [String] = []
    /// A line that begins with a blank goes on with the header before it.
    private var isOpen = false

    /// Takes a line with its end.
    mutating func take(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first else { return }
        if first == 0x20 || first == 0x09 {
            if isOpen { add(line[...]) }
            return
        }
        isOpen = false
        guard let colon = line.firstIndex(of: 0x3a) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
        // Of an encoding for the transfer alone libcurl notices the end as little.
        guard name == "content-encoding" || name == "transfer-encoding" else { return }
        isOpen = true
        add(line[(colon + 1)...])
    }

    private mutating func add(_ value: Slice<UnsafeRawBufferPointer>) {
        for part in value.split(separator: 0x2c) {
            let bytes = part.drop { Self.isBlank($0) }.reversed().drop { Self.isBlank($0) }.reversed()
            let name = String(decoding: bytes.prefix(40), as: UTF8.self).lowercased()
            if !Self.harmless.contains(name), names.count < 4 { names.append(name) }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static let harmless: Set<String> = ["", "identity", "none", "chunked"]
}
