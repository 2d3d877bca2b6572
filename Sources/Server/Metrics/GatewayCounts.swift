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

/// Counts of what a gateway has answered since it began. No key is a stranger's text, so the number of keys has a bound.
final class GatewayCounts: Sendable {
    /// An endpoint and a class of statuses, such as 2 for 200 to 299.
    struct Answered: Hashable, Comparable, Sendable {
        let path: String
        let method: String
        let statusClass: Int

        /// - Parameter endpoint: Nil for a request that no endpoint is for.
        init(_ endpoint: Endpoint?, _ statusClass: Int) {
            path = endpoint?.path ?? "none"
            method = endpoint?.method ?? "none"
            self.statusClass = statusClass
        }

        static func < (one: Self, other: Self) -> Bool {
            (one.path, one.method, one.statusClass) < (other.path, other.method, other.statusClass)
        }
    }

    struct Values: Sendable {
        var answered: [Answered: Int] = [:]
        var refused: [AccessRule: Int] = [:]
        /// Answers of `/v1/fetch` by the place that they came from.
        var sources: [AnswerSource: Int] = [:]
        /// Failures of `/v1/fetch` and `/v1/picture` by their class.
        var failures: [String: Int] = [:]
        /// Thumbnails that were in Redis.
        var keptThumbnails = 0
        var madeThumbnails = 0
        var thumbnailFailures: [ThumbnailFailure.Kind: Int] = [:]
    }

    private let counted = Mutex(Values())

    var values: Values { counted.withLock { $0 } }

    /// Names all that there is to count: a count that begins with its first failure looks as if there had been none.
    func begin(_ endpoints: [Endpoint]) {
        counted.withLock { counted in
            counted.answered[Answered(nil, 4)] = 0
            for endpoint in endpoints {
                for statusClass in 2...5 { counted.answered[Answered(endpoint, statusClass)] = 0 }
            }
            for rule in AccessRule.allCases { counted.refused[rule] = 0 }
            for name in FetchError.Kind.classNames + Self.classesOfStatuses { counted.failures[name] = 0 }
            for kind in ThumbnailFailure.Kind.allCases { counted.thumbnailFailures[kind] = 0 }
        }
    }

    func answered(_ endpoint: Endpoint?, status: Int) {
        counted.withLock { $0.answered[Answered(endpoint, status / 100), default: 0] += 1 }
    }

    func refused(by rule: AccessRule) { counted.withLock { $0.refused[rule, default: 0] += 1 } }

    func fetched(from source: AnswerSource) { counted.withLock { $0.sources[source, default: 0] += 1 } }

    func failed(_ error: FetchError) {
        let name = Self.failureClass(error)
        counted.withLock { $0.failures[name, default: 0] += 1 }
    }

    func thumbnail(wasKept: Bool) { counted.withLock { if wasKept { $0.keptThumbnails += 1 } else { $0.madeThumbnails += 1 } } }

    func failed(_ failure: ThumbnailFailure) { counted.withLock { $0.thumbnailFailures[failure.kind, default: 0] += 1 } }

    private static let classesOfStatuses = ["http-4xx", "http-5xx", "http-other"]

    /// An origin may answer any status, so statuses count by their hundreds.
    private static func failureClass(_ error: FetchError) -> String {
        guard case .status(let status) = error.kind else { return error.className }
        return switch status {
        case 400...499: classesOfStatuses[0]
        case 500...599: classesOfStatuses[1]
        default: classesOfStatuses[2]
        }
    }
}
