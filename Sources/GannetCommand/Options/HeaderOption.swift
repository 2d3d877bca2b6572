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

    private static let mostBytes = 65_536

    static func headers(from arguments: Arguments) throws -> RequestHeaders {
        let given = try arguments.all(header)
        var fields: [HeaderField] = []
        func add(_ line: String, _ place: String) throws {
            do throws(RequestRejection) {
                fields.append(try HeaderField(line: line))
            } catch {
                throw arguments.usageError("\(place) cannot be sent as a header: \(error.description).")
            }
        }
        for (index, text) in given.enumerated() {
            if text.hasPrefix("@") {
                let path = String(text.dropFirst())
                for (number, line) in try lines(of: path, arguments) {
                    try add(line, "Line \(number) of the file \(Sentence.quoted(path))")
                }
            } else {
                try add(text, given.count == 1 ? "The value of '--header'" : "Value \(index + 1) of '--header'")
            }
        }
        do {
            return try RequestHeaders(fields)
        } catch {
            throw arguments.usageError("\(error)")
        }
    }

    /// The headers in a file, with the numbers of their lines. The file may be a pipe, as a shell makes one for a secret.
    private static func lines(of path: String, _ arguments: Arguments) throws -> [(number: Int, text: String)] {
        func unusable(_ why: String) -> UsageError { arguments.usageError("The file \(Sentence.quoted(path)) of '--header' \(why).") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unusable("cannot be read: \(Descriptor.message(errno))") }
        defer { close(descriptor) }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: mostBytes + 1) else {
            throw unusable("cannot be read: \(Descriptor.message(errno))")
        }
        guard bytes.count <= mostBytes else { throw unusable("has more than \(mostBytes) bytes") }
        let content = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
        var lines: [(number: Int, text: String)] = []
        for (index, line) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let bare = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if bare.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || bare.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: bare, as: UTF8.self) else { throw unusable("has no text in line \(index + 1)") }
            lines.append((index + 1, text))
        }
        if lines.isEmpty { throw unusable("has no header in it") }
        return lines
    }
}
