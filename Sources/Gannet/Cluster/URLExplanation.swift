internal import ClusterState
internal import FetchQueue
internal import HTTPEngine

/// What a cluster knows of one URL: why it would be fetched now, or why not.
package struct URLExplanation: Sendable {
    /// As equal URLs are equal text, without credentials; and what it is known by.
    package let canonical: String
    package let id: String
    package let host: String

    /// The outcome that is kept.
    package struct Outcome: Sendable {
        package let isFailure: Bool
        package let isFresh: Bool
        /// Only for jobs and callers that were there when it came.
        package let isForFollowersOnly: Bool
        package let age: Duration
        /// Below zero for one that is no longer fresh.
        package let freshFor: Duration
        package let httpStatus: Int?
        package let bytes: Int?
        package let sha256: String?
        package let contentType: String?
        package let file: String?
        package let errorClass: String?
        package let errorMessage: String?
    }
    package let outcome: Outcome?

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
        /// An operator's rule, before what workers say.
        package let limit: Int?
        package let interval: Duration?
    }
    package let hostState: Host
}

extension Cluster {
    /// All that is known of a URL and its host.
    /// - Throws: A usage error for what is no URL.
    package func explain(_ url: String) async throws(ClusterError) -> URLExplanation {
        let canonical: CanonicalURL
        do throws(URLRejection) {
            canonical = try CanonicalURL(url)
        } catch {
            throw ClusterError(.usage, "This is no URL that can be fetched: \(error.description).")
        }
        guard let id = URLID(canonical.id) else { throw ClusterError(.defect, "An id has another length than it should.") }
        return try await ClusterError.wrapping { () throws(StateError) in
            URLExplanation(canonical, try await queue("default").explain(id, host: canonical.hostName))
        }
    }
}

extension URLExplanation {
    fileprivate init(_ url: CanonicalURL, _ found: Explanation) {
        canonical = url.description
        id = Self.hex(url.id)
        host = url.hostName
        outcome = found.page.map { Outcome($0, now: found.now) }
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
            isProbed: found.isProbing, limit: found.rule?.limit, interval: found.rule?.interval)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}

extension URLExplanation.Outcome {
    fileprivate init(_ page: Page, now: Int) {
        isFailure = page.isNegative
        isFresh = page.isStored && page.freshUntil > now
        isForFollowersOnly = !page.isStored
        age = .milliseconds(max(0, now - page.ended))
        freshFor = .milliseconds(page.freshUntil - now)
        httpStatus = page.content.status == 0 ? nil : page.content.status
        bytes = page.content.digest == nil ? nil : page.content.size
        sha256 = page.content.digest.map(URLExplanation.hex)
        contentType = page.content.fields[.contentType]
        file = page.content.fields[.file]
        errorClass = page.content.fields[.errorClass]
        errorMessage = page.content.fields[.errorMessage]
    }
}
