internal import ClusterState
internal import HTTPEngine

/// What a cluster knows of one URL: why it would be fetched now, or why not.
package struct URLExplanation: Sendable {
    /// As equal URLs are equal text, without credentials; and what it is known by.
    package let canonical: String
    package let id: String
    /// The names of the headers with which it is asked for.
    package let headerNames: [String]
    package let host: String

    /// The outcome that is kept.
    package let outcome: KnownPage?

    /// It is only for jobs and callers that were there when it came.
    package let isForFollowersOnly: Bool

    /// There is an outcome that only a newer version can read.
    package let isOutcomeForeign: Bool

    /// Who has the URL locked.
    package struct Holder: Sendable {
        package enum Kind: String, Sendable {
            case worker, program, retry
        }
        package let kind: Kind
        package let queue: String?
        package let since: Duration
        package let leaseLeft: Duration
    }
    package let holder: Holder?

    package let waitingJobs: Int
    package let waitingCallers: Int

    /// The host's state, for the whole fleet.
    package struct Host: Sendable {
        package let inFlight: Int
        /// How long nothing starts because of a cool-down, or of the pause between two requests.
        package let coolsFor: Duration?
        package let startsIn: Duration?
        package let connectFailures: Int
        package let isProbed: Bool
        /// It has taken no connection for too long: what would have to wait for it fails.
        package let isGivenUp: Bool
        /// An operator's rule, before what workers say.
        package let limit: Int?
        package let interval: Duration?
    }
    package let hostState: Host
}

extension Cluster {
    /// All that is known of a URL that is asked for with these headers, and of its host.
    /// - Throws: A usage error for what is no URL.
    package func explain(_ url: String, headers: ExtraHeaders = .none) async throws(ClusterError) -> URLExplanation {
        let canonical: CanonicalURL
        do throws(RequestRejection) {
            canonical = try CanonicalURL(url)
        } catch {
            throw ClusterError(.usage, "This is no URL that can be fetched: \(error.description).")
        }
        guard let id = URLID(canonical, headers.fields) else { throw ClusterError(.defect, "An id has another length than it should.") }
        return try await ClusterError.wrapping { () throws(StateError) in
            URLExplanation(canonical, id, headers, try await queue("default").explain(id, host: canonical.hostName))
        }
    }
}

extension URLExplanation {
    fileprivate init(_ url: CanonicalURL, _ id: URLID, _ headers: ExtraHeaders, _ found: Explanation) {
        canonical = url.description
        self.id = id.bytes.hexadecimal
        headerNames = headers.names
        host = url.hostName
        outcome = found.page.map { KnownPage($0, now: found.now) }
        isForFollowersOnly = found.page?.isStored == false
        isOutcomeForeign = found.isPageForeign
        holder = found.holder.map {
            let kinds: [Explanation.Holder.Kind: Holder.Kind] = [.job: .worker, .caller: .program, .retry: .retry]
            return Holder(
                kind: kinds[$0.kind] ?? .worker, queue: $0.queue, since: .milliseconds(max(0, found.now - $0.began)), leaseLeft: $0.left)
        }
        waitingJobs = found.followers
        waitingCallers = found.waiters
        let later = { (time: Int) -> Duration? in time > found.now ? .milliseconds(time - found.now) : nil }
        hostState = Host(
            inFlight: found.running, coolsFor: later(found.coolUntil), startsIn: later(found.nextStart), connectFailures: found.failures,
            isProbed: found.isProbing, isGivenUp: found.isGivenUp, limit: found.rule?.limit, interval: found.rule?.interval)
    }
}
