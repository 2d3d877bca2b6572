import GannetHTTP
import Glibc

/// Answers for files of robots.txt on standard input, for a comparison with another parser (Scripts/check robots). Each line is one of
///
///     F HEXADECIMAL    the bytes of a file
///     A AGENT          rules of this file for this agent; printed: the seconds of its Crawl-delay, or "-"
///     P PATH           a path for these rules; printed: "allowed", or "disallowed" and the number of the line
enum RobotsVerdicts: HelperJob {
    static func run(_ words: [String]) {
        var file = RobotsFile([])
        var rules = RobotsRules.everything
        while let line = readLine() {
            let value = line.dropFirst(2)
            switch line.first {
            case "F": file = RobotsFile(bytes(value))
            case "A":
                rules = file.rules(for: String(value))
                print(rules.crawlDelay.map { "\($0)" } ?? "-")
            case "P":
                switch rules.verdict(path: String(value)) {
                case .allowed: print("allowed")
                case .disallowed(_, let line): print("disallowed \(line)")
                }
            default:
                print("unknown line: \(line)")
                exit(64)
            }
        }
    }

    private static func bytes(_ hexadecimal: Substring) -> [UInt8] {
        let digits = Array(hexadecimal.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { index in
            UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16) ?? 0
        }
    }
}
