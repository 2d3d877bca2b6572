import GannetBasics

/// A file of headers, one a line. A pipe will do, as a shell makes one for a secret.
enum HeaderFile {
    /// Why its headers cannot be had: the second half of a sentence.
    struct Problem: Error {
        let description: String
    }

    private static let mostBytes = 65_536

    /// The lines that are headers, with their numbers. A file without any is an error: what is not there was meant to be.
    static func lines(of path: String) throws(Problem) -> [(number: Int, text: String)] {
        var lines: [(number: Int, text: String)] = []
        var rest = try read(path)[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        for (index, line) in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if content.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || content.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: content, as: UTF8.self) else {
                throw Problem(description: "has no text in line \(index + 1)")
            }
            lines.append((index + 1, text))
        }
        if lines.isEmpty { throw Problem(description: "has no header in it") }
        return lines
    }

    private static func read(_ path: String) throws(Problem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: mostBytes + 1)
        while true {
            let count = buffer.withUnsafeMutableBytes { GannetBasics.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable() }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= mostBytes else { throw Problem(description: "has more than \(mostBytes) bytes") }
        }
    }

    private static func unreadable() -> Problem { Problem(description: "cannot be read: \(Descriptor.message(errno))") }
}
