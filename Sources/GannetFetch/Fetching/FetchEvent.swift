public import GannetHTTP

/// Something that a fetcher has done, for logs and metrics.
public enum FetchEvent: Sendable, Hashable {
    /// A call has got its answer.
    case answered(RedactedURL, from: AnswerSource, bytes: Int, after: Duration)
    /// A call has failed. A call that was cancelled has failed too.
    case failed(FetchError, after: Duration)
    /// An attempt has failed, and is made again after a pause.
    case retrying(FetchError, attempt: Int, after: Duration)
}
