import Crawl
import GannetBase
import GannetHTTP
import GannetQueue

/// Headers that requests carry in addition to the usual ones. Values may be secrets, so no error repeats one.
enum HeaderOption {
    static let header = Flag(
        "header", .text("header"), isRepeatable: true, separator: "\n", secrecy: .whole,
        "A header for the requests, 'Name: value', or @FILE for a file with one header a line ('#' begins a comment). A file keeps a secret out "
            + "of the list of processes. This option can be repeated (in the environment: one header a line). The same URL with other headers is "
            + "fetched and kept by itself. Values are in Redis as plain text. A header that looks like a credential, or 'traceparent', is not sent on "
            + "to another origin after a redirect."
    )

    static func headers(from arguments: Arguments) throws -> RequestHeaders {
        let given = try arguments.all(header)
        var lines: [String] = []
        var places: [String] = []
        for (index, text) in given.enumerated() {
            guard text.hasPrefix("@") else {
                lines.append(text)
                places.append(given.count == 1 ? "The value of '--header'" : "Value \(index + 1) of '--header'")
                continue
            }
            let path = String(text.dropFirst())
            switch HeaderFile.lines(of: path) {
            case .lines(let found):
                lines += found.map(\.text)
                places += found.map { "Line \($0.number) of the file \(Sentence.quoted(path))" }
            case .unusable(let reason):
                throw arguments.usageError("The file \(Sentence.quoted(path)) of '--header' \(reason).")
            }
        }
        var fields: [HeaderField] = []
        for (line, place) in zip(lines, places) {
            do throws(RequestRejection) {
                fields.append(try HeaderField(line: line))
            } catch {
                throw arguments.usageError("\(place) cannot be sent as a header: \(error.description).")
            }
        }
        do {
            return try RequestHeaders(fields)
        } catch {
            throw arguments.usageError("\(error)")
        }
    }
}

/// A file of headers, one a line. It may be a pipe, as a shell makes one for a secret.
private enum HeaderFile {
    case lines([(number: Int, text: String)])
    /// The second half of a sentence.
    case unusable(String)

    private static let mostBytes = 65_536

    /// The lines that are headers, with their numbers. A file without any header is unusable.
    static func lines(of path: String) -> HeaderFile {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return .unusable("cannot be read: \(Descriptor.message(errno))") }
        defer { close(descriptor) }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: mostBytes + 1) else {
            return .unusable("cannot be read: \(Descriptor.message(errno))")
        }
        return bytes.count > mostBytes ? .unusable("has more than \(mostBytes) bytes") : lines(in: bytes[...])
    }

    private static func lines(in bytes: ArraySlice<UInt8>) -> HeaderFile {
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes
        var lines: [(number: Int, text: String)] = []
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if content.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || content.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: content, as: UTF8.self) else { return .unusable("has no text in line \(index + 1)") }
            lines.append((index + 1, text))
        }
        return lines.isEmpty ? .unusable("has no header in it") : .lines(lines)
    }
}
