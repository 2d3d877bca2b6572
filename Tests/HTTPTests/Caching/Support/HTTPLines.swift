import Glibc

@testable import GannetHTTP

extension Moment {
    static let distantPast = Moment(millisecondsSince1970: .min)
    static let distantFuture = Moment(millisecondsSince1970: .max)

    /// When the answers of the tests came: 1 June 2024, 00:00:00.
    static let came = Moment(millisecondsSince1970: 1_717_200_000_000)
}

/// Header lines as tests write them; `{60}` stands for the date 60 seconds after answers came.
enum HTTPLines {
    static func headers(_ lines: [String]) -> ResponseHeaders {
        ResponseHeaders(lines: Array(lines.map { "\(withDates($0))\r\n" }.joined().utf8))
    }

    static func fields(_ lines: [String]) -> [HeaderField] {
        lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
            guard let name = parts.first, let field = HeaderField(name: String(name), value: parts.count > 1 ? String(parts[1]) : "") else {
                preconditionFailure("\(line) is no header that can be sent")
            }
            return field
        }
    }

    static func date(_ offset: Int) -> String {
        var seconds = time_t(Int(Moment.came.millisecondsSince1970 / 1000) + offset)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        var text = [CChar](repeating: 0, count: 64)
        strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private static func withDates(_ line: String) -> String {
        guard let open = line.firstIndex(of: "{"), let close = line.firstIndex(of: "}"),
            let offset = Int(line[line.index(after: open)..<close])
        else { return line }
        return line[..<open] + date(offset) + line[line.index(after: close)...]
    }
}

extension LookupOptions {
    /// Accepts any answer up to this age, fresh or stale, unless its origin forbids the use of stale answers.
    static func accepting(upTo age: Duration) -> Self {
        var options = Self()
        options.maximumAge = age
        options.maximumStaleness = .seconds(DeltaSeconds.forever)
        return options
    }
}
