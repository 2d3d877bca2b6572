extension String {
    /// Without the spaces and tabs that may stand around the value of a header.
    package var trimmedOfBlanks: String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(self[first...last])
    }
}
