import Crawl
import GannetBase
import GannetQueue

/// One message on standard error: a sentence for people, and facts for programs that read logs.
struct LogLine: Sendable {
    enum Level: String, Sendable {
        case error, warning, info, debug
    }

    var level: Level
    var message: String
    /// Stands before the message in text.
    var prefix = ""
    /// In text only those that are named by `shown` appear.
    var facts: LogFacts = []
    var shown: [String] = []

    func text(in format: LogFormat, at time: Date) -> String {
        switch format {
        case .text: prefix + message.withoutSteering + shownFacts + "\n"
        case .json: json(at: time).text + "\n"
        }
    }

    private var shownFacts: String {
        let parts = facts.filter { shown.contains($0.key) }.compactMap { fact -> String? in
            guard case .string(let value) = fact.value else { return nil }
            // As `explain` and `jobs list` show the ids of URLs.
            let text = fact.key == JobLabel.idKey ? String(value.prefix(URLID.shortDigits)) : value
            return "\(fact.key) \(text.withoutSteering)"
        }
        return parts.isEmpty ? "" : " [\(parts.joined(separator: ", "))]"
    }

    /// Sentences quote what servers and users wrote; logs are looked at on terminals too.
    private func json(at time: Date) -> JSONValue {
        .object(
            [
                (key: "time", value: .string(Self.timestamp(time))), (key: "level", value: .string(level.rawValue)),
                (key: "message", value: .string(message.withoutSteering)),
            ]
                + facts.map { fact in
                    guard case .string(let value) = fact.value else { return fact }
                    return (key: fact.key, value: .string(value.withoutSteering))
                })
    }

    static func timestamp(_ time: Date) -> String { UTCTime.text(Int((time.timeIntervalSince1970 * 1000).rounded(.down))) }
}

/// Values for programs that read logs, in the order in which they are written.
typealias LogFacts = [(key: String, value: JSONValue)]

extension JobLabel {
    /// The key of the id of the job's URL.
    static let idKey = "job"

    /// For logs.
    /// - Parameter event: The change of the job's state.
    func facts(_ event: String, _ more: LogFacts = []) -> LogFacts {
        var facts: LogFacts = [(key: "event", value: .string(event)), (key: "url", value: .string(url))]
        if let id { facts.append((key: Self.idKey, value: .string(id.bytes.hexadecimal))) }
        if let batch { facts.append((key: "batch", value: .string(batch))) }
        if let trace { facts.append((key: "traceID", value: .string(trace))) }
        return facts + more
    }
}
