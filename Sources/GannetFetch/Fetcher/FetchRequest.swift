public import FoundationEssentials
internal import GannetHTTP

/// A URL to fetch, and the conditions for a kept answer.
public struct FetchRequest: Sendable, Hashable {
    /// An absolute http or https URL. It is requested as the URL standard writes it, without its fragment. URLs with the same text in
    /// that form share their kept answer.
    public var url: URL

    /// Headers to send, such as `["Accept": "image/webp"]`. They are part of the key of a kept answer. Credentials among them go to the URL's
    /// own origin only. A header that cannot be sent fails the request with ``FetchError/Kind/invalidRequest``.
    public var headers: [String: String] = [:]

    /// The greatest age of a kept answer. Without it, an answer is used for as long as its own headers permit.
    public var maximumAge: Duration?

    /// Whether the origin is asked even if there is a kept answer.
    public var refresh = false

    /// The order in which fetches start when more are wanted than may be in flight.
    public var priority = FetchPriority.normal

    /// The time for the call as a whole: until a place is free, for all attempts and the pauses between them, and for the transform of a value.
    /// When it is over, the call fails with the timeout ``FetchError/Phase/deadline`` and leaves the transfer to its other callers. An answer
    /// or a value in memory needs no time.
    public var deadline: Duration?

    public init(_ url: URL) { self.url = url }

    /// A request with some of its fields changed.
    public init(_ url: URL, _ change: (inout FetchRequest) -> Void) {
        self.init(url)
        change(&self)
    }

    init(_ url: URL, priority: FetchPriority) {
        self.init(url)
        self.priority = priority
    }
}

extension FetchRequest {
    /// How the request's caller waits.
    func caller(_ priority: ChangingPriority? = nil, progress: ProgressListener? = nil) -> Caller {
        Caller(priority ?? ChangingPriority(self.priority), progress: progress, deadline: deadline)
    }

    /// The same request as the caches take it. Throws when a header cannot be sent.
    func checked() throws(FetchError) -> AnswerRequest {
        var request = AnswerRequest(url.absoluteString)
        // Names in order, so that equal requests have equal keys.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            do throws(RequestRejection) {
                request.headers.append(try HeaderField(checking: name, value))
            } catch {
                let detail = "the header '\(name.escapedForDisplay)': \(error)"
                throw FetchError(kind: .invalidRequest, url: url.absoluteString, detail: detail)
            }
        }
        request.maximumAge = maximumAge
        request.refresh = refresh
        request.priority = priority
        return request
    }
}

/// Prints without passwords: in a log, in a dump, or as a part of another value.
extension FetchRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let headers = headers.sorted { $0.key < $1.key }.map { HeaderField(name: $0.key, value: $0.value)?.description ?? "\($0.key): •••" }
        let values: KeyValuePairs<String, Any> = [
            "url": RedactedURL(url.absoluteString).description, "headers": headers, "maximumAge": maximumAge as Any, "refresh": refresh,
            "priority": priority, "deadline": deadline as Any,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}
