import GannetBasics

/// The server's own words, kept short: for whoever has to tell why it did not start.
struct ServerLog: Sendable {
    static let largest = 1 << 20

    let path: String

    /// The server opens the file anew for every line, and appends: emptying it under its hands is safe.
    func truncateWhenLarge() {
        if size > Self.largest { _ = truncate(path, 0) }
    }

    var size: Int {
        var found = stat()
        return stat(path, &found) == 0 ? Int(found.st_size) : 0
    }

    /// What the server complained of since the file had `start` bytes, in at most three lines; nil when it said nothing.
    func complaint(since start: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The last 16 KB hold more lines than are shown.
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = pread(descriptor, &bytes, bytes.count, off_t(max(start, size - bytes.count, 0)))
        guard count > 0 else { return nil }
        return Self.complaint(in: String(decoding: bytes[..<count], as: UTF8.self))
    }

    /// Lines look like `1234:M 21 Nov 2026 07:03:23.123 # Bad file format…`, where `#` marks a warning. Some of a
    /// start's warnings are advice about the machine and have nothing to do with its end.
    static func complaint(in text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.allSatisfy(\.isWhitespace) }
        let advice = [
            "overcommit_memory", "Transparent Huge", "Redis is starting", "version=", "Configuration loaded", "Server initialized",
        ]
        let warnings = lines.compactMap { line -> String? in
            guard let mark = line.firstRange(of: " # ") else { return nil }
            let warning = String(line[mark.upperBound...])
            return advice.contains { warning.contains($0) } ? nil : warning
        }
        let shown = warnings.isEmpty ? lines.suffix(1) : warnings.suffix(3)
        return shown.isEmpty ? nil : shown.map { String($0.prefix(400)) }.joined(separator: " / ")
    }
}
