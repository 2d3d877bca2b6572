internal import GannetBase

/// The parts of a sample that come from its row. They are the same whichever run has fetched the body.
extension ManifestRow {
    /// The keys of a manifest's line that are about the run, and not about the body.
    private static let ofRun: Set = [
        "outcome", "durationMilliseconds", "file", "error", "result", "lastSha256", "fetchedAt", "checkedAt",
    ]

    /// The sample's `json`: the figures of its body, and the carried values.
    func figures(_ end: RowEnd, key: String) -> [UInt8] {
        var text: [UInt8] = []
        append([("key", .string(key))] + members(end).filter { !Self.ofRun.contains($0.key) }, to: &text)
        return text
    }

    /// The sample's `txt`: the first carried value, if it is a text, such as a caption.
    var caption: [UInt8]? {
        carried?.withUnsafeBytes { bytes in
            guard let value = JSONText.values(ofObject: bytes).first, bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
            return JSONText.unescaped(UnsafeRawBufferPointer(rebasing: bytes[value.dropFirst().dropLast()]))
        }
    }
}
