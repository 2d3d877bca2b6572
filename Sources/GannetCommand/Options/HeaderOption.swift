import CommandLineKit
import Gannet
import HTTPEngine

/// What requests carry besides what every request has. Values may be secrets: no error repeats one.
enum HeaderOption {
    static let header = Flag(
        "header", .text("header"), isRepeatable: true, separator: "\n", isSecret: true,
        "A header of the requests, 'Name: value', or @FILE for a file with one a line ('#' begins a comment), which keeps a secret out of the list of "
            + "processes; can be repeated (in the environment: one a line). The same URL with other headers is fetched and kept by itself. Values "
            + "lie in Redis in clear. One whose name looks like a credential, or is 'traceparent', goes to no other origin when one redirects."
    )

    static func headers(from arguments: Arguments) throws(UsageError) -> ExtraHeaders {
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
            do throws(HeaderFile.Problem) {
                for line in try HeaderFile.lines(of: path) {
                    lines.append(line.text)
                    places.append("Line \(line.number) of the file \(Sentence.quoted(path))")
                }
            } catch {
                throw arguments.usageError("The file \(Sentence.quoted(path)) of '--header' \(error.description).")
            }
        }
        var fields: [HeaderField] = []
        for (line, place) in zip(lines, places) {
            do throws(RequestRejection) {
                fields.append(try HeaderField(line: line))
            } catch {
                throw arguments.usageError("\(place) is no header that can be sent: \(error.description).")
            }
        }
        do {
            return try ExtraHeaders(fields)
        } catch {
            throw arguments.usageError("\(error)")
        }
    }
}
