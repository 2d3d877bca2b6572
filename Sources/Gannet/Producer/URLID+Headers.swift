internal import ClusterState
internal import HTTPCaching
internal import HTTPEngine

extension URLID {
    /// What a URL that is asked for with these headers is known by: the same to jobs and to callers of the library.
    init?(_ url: CanonicalURL, _ headers: [HeaderField]) { self.init(CacheKey(url, headers: headers).id) }
}
