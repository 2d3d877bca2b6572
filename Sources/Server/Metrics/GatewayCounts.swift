internal import Crawl
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import Results

/// The rules by which a request is refused before anything is done for it.
enum AccessRule: String, CaseIterable, Sendable {
    case token, origin, host, limit
    case readOnly = "read-only"
}

/// Counts of what a gateway has answered since it began. No label is a stranger's text, so the number of counts has a bound.
final class GatewayCounts: Sendable {
    /// The metrics with labels.
    enum Subject: CaseIterable, Sendable {
        case requests, refused, answers, failures, thumbnails, thumbnailFailures

        var metric: (name: String, labels: [String], help: String) {
            switch self {
            case .requests:
                ("requests", ["endpoint", "method", "status"], "Requests whose answers have begun, by endpoint and class of status.")
            case .refused: ("refused", ["rule"], "Requests that a rule refused: a missing token, a foreign page, a wrong host, a limit.")
            case .answers: ("answers", ["source"], "Answers of /v1/fetch, by the place that they came from.")
            case .failures: ("failures", ["class"], "Failures to fetch that /v1/fetch and /v1/picture answered, by class.")
            case .thumbnails: ("thumbnails", ["source"], "Thumbnails that /v1/picture answered: kept in Redis, or made for the request.")
            case .thumbnailFailures:
                ("thumbnail_failures", ["class"], "Pictures of which /v1/picture could make no thumbnail, by class.")
            }
        }
    }

    private let counted = Mutex<[Subject: [[String]: Int]]>([:])

    /// The counts of a subject by the values of its labels.
    func values(of subject: Subject) -> [[String]: Int] { counted.withLock { $0[subject] ?? [:] } }

    private func count(_ subject: Subject, _ labels: String...) {
        counted.withLock { $0[subject, default: [:]][labels, default: 0] += 1 }
    }

    func answered(_ endpoint: Endpoint?, status: Int) {
        count(.requests, endpoint?.path ?? "none", endpoint?.method ?? "none", "\(status / 100)xx")
    }

    func refused(by rule: AccessRule) { count(.refused, rule.rawValue) }

    func fetched(from source: AnswerSource) { count(.answers, Self.name(of: source)) }

    func failed(_ error: FetchError) { count(.failures, Self.failureClass(error)) }

    func thumbnail(wasKept: Bool) { count(.thumbnails, wasKept ? "redis" : "made") }

    func failed(_ failure: ThumbnailFailure) { count(.thumbnailFailures, failure.kind.rawValue) }

    /// Names all that there is to count: a count that begins with its first failure looks as if there had been none.
    func begin(_ endpoints: [Endpoint]) {
        let classes = FetchError.Kind.classNames + ["http-4xx", "http-5xx", "http-other"]
        // A gateway has no folder for answers.
        let sources = AnswerSource.allCases.filter { $0 != .disk }
        let all: [Subject: [[String]]] = [
            .requests: [["none", "none", "4xx"]] + endpoints.flatMap { one in (2...5).map { [one.path, one.method, "\($0)xx"] } },
            .refused: AccessRule.allCases.map { [$0.rawValue] }, .answers: sources.map { [Self.name(of: $0)] },
            .failures: classes.map { [$0] }, .thumbnails: [["redis"], ["made"]],
            .thumbnailFailures: ThumbnailFailure.Kind.allCases.map { [$0.rawValue] },
        ]
        counted.withLock { $0 = all.mapValues { labels in Dictionary(labels.map { ($0, 0) }) { first, _ in first } } }
    }

    private static func name(of source: AnswerSource) -> String {
        switch source {
        case .shared: "redis"
        case .network: "origin"
        case .memory, .disk, .revalidated, .stale: source.rawValue
        }
    }

    /// An origin may answer any status, so statuses count by their hundreds.
    private static func failureClass(_ error: FetchError) -> String {
        guard case .status(let status) = error.kind else { return error.className }
        return [4, 5].contains(status / 100) ? "http-\(status / 100)xx" : "http-other"
    }
}
