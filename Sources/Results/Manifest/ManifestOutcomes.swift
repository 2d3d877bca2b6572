internal import GannetBase
package import GannetHTTP

/// The rows of a manifest that was written, counted by their outcomes.
package struct ManifestOutcomes: Sendable, Equatable {
    /// In the order in which they are told.
    package static let names = ["fetched", "cached", "failed", "pending", "invalid"]

    /// By name.
    package private(set) var counts: [String: Int] = [:]
    package private(set) var rows = 0

    /// The memory for lines. In a longer line the outcome stands within this many bytes too: only a URL is before it.
    private static let bufferSize = 256 * 1024
    private static let noLine = Array(#"{"line":null,"#.utf8)

    package init(ofFile path: String) throws(StorageFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageFailure.refused("file", path, "read") }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 1)
        defer { buffer.deallocate() }
        var (offset, kept) = (0, 0)
        var isCounted = false
        while true {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[kept...])
            guard let count = Descriptor.read(into: rest, from: descriptor, at: offset) else {
                throw StorageFailure.refused("file", path, "read")
            }
            if count == 0 { return }
            offset += count
            var start = 0
            let filled = kept + count
            while let newline = buffer[start..<filled].firstIndex(of: UInt8(ascii: "\n")) {
                if !isCounted { note(UnsafeRawBufferPointer(rebasing: buffer[start..<newline])) }
                (start, isCounted) = (newline + 1, false)
            }
            kept = filled - start
            if kept == buffer.count {
                if !isCounted { note(UnsafeRawBufferPointer(buffer)) }
                (kept, isCounted) = (0, true)
            } else if start > 0 {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<filled]))
            }
        }
    }

    private mutating func note(_ line: UnsafeRawBufferPointer) {
        rows += 1
        let values = JSONText.values(ofObject: line)
        // Behind the number of the line and the URL. An argument's number has a member of its own.
        let place = line.starts(with: Self.noLine) ? 3 : 2
        guard values.indices.contains(place) else { return }
        let word = line[values[place]].dropFirst().dropLast()
        // A file that another program has written may have any words.
        if let name = Self.names.first(where: { word.elementsEqual($0.utf8) }) { counts[name, default: 0] += 1 }
    }
}
