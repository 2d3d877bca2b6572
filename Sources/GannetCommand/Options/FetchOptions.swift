import Crawl
import GannetBase
import GannetHTTP
import GannetQueue
import GannetRedis

/// How jobs and callers without a job fetch.
struct FetchOptions: Sendable {
    /// Callers without a job use a part of it.
    private(set) var worker = WorkerOptions()
    /// Times and limits of one request.
    private(set) var settings = FetchSettings()

    private static let usual = FetchSettings()
    private static let concurrencyCount = Flag(
        "concurrency", .integer(in: 1...10_000), default: "\(usual.maximumInFlight)", section: .fetching,
        "How many requests are in flight at once.")
    private static let jobConcurrencyCount = Flag(
        "concurrency", .orAuto(.integer(in: 1...10_000), "count|auto"), default: "auto", section: .fetching,
        "How many requests are in flight at once. With 'auto' a worker begins with \(WorkerOptions.placesAtFirst). It takes more, up to "
            + "\(WorkerOptions.mostPlaces), while all of them wait for their origins. It takes fewer where the processor, the memory, the name servers "
            + "or the network do not keep up."
    )
    private static let hostCount = Flag(
        "host-limit", .integer(in: 1...10_000), default: "8", section: .fetching,
        "How many requests one host gets at once, from all workers and gateways together. Another port than 80 and 443 is another host.")
    private static let hostRate = Flag(
        "host-rate", .rate, section: .fetching,
        "How many requests a second one host gets, from all workers and gateways together. Without this option there is no such limit. A pause between two "
            + "requests is kept in Redis and outlasts the run."
    )
    private static let jobHostRate = Flag(
        "host-rate", .orAuto(.rate, "rate"), section: .fetching,
        "How many requests a second one host gets, from all workers and gateways together. With 'auto' a host gets one request at a time on average, "
            + "and so fewer as its answers slow down. Without this option there is no such limit. A pause between two requests is kept in Redis and "
            + "outlasts the run."
    )
    private static let retryCount = Flag(
        "retries", .integer(in: 0...100), default: "3", section: .fetching,
        "How often a URL is tried again after a failure that may pass: no connection, a lost connection, a timeout, a 5xx. A host that asks for "
            + "patience (408, 425, 429, 503) uses up no retry, nor does a proxy or network that is down.")
    private static let callRetries = Flag(
        "retries", .integer(in: 0...100), default: "0", section: .fetching,
        "How often a URL is tried again after a failure that may pass, while its callers wait. The first pause is up to 1 s, and each further "
            + "one up to twice as long. A host that asks for more than 30 s is not waited for.")
    private static let patience = Flag(
        "give-up-after", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))), default: "1h", section: .fetching,
        "How long a URL waits for a host that answers that it is too busy (429, 503), whatever the host asks for.")
    private static let connectPatience = Flag(
        "host-patience", .duration(in: .zero...(.seconds(365 * 86_400))), section: .fetching,
        "How long URLs wait for a host that does not answer; 0s means for ever. Without this option they wait 15 minutes for a host that has "
            + "answered in the last hour, and for any other host until three requests had no answer."
    )
    private static let leaseTime = Flag(
        "lease", .duration(in: .seconds(1)...(.seconds(3600))), default: "30s", section: .fetching,
        "How long a job stays with a worker that has gone silent.")
    private static let callLease = Flag(
        "lease", .duration(in: .seconds(1)...(.seconds(3600))), default: "6s", section: .fetching,
        "How long others wait for a URL whose fetch has gone silent, as when this command was killed.")
    private static let timeoutTime = Flag(
        "timeout", .duration(in: FetchSettings.times), default: TimeSpan.text(of: usual.timeout), section: .fetching,
        "How long one request may stand still, redirects included: look-ups, connections and waits for answers together. An answer has to begin within "
            + "half of this time. Its body may take longer, but fails when it brings less than 100 bytes a second for half of this time. After this time it "
            + "has to bring 1 KB a second."
    )
    private static let connectTime = Flag(
        "connect-timeout", .duration(in: FetchSettings.times), default: TimeSpan.text(of: usual.connectTimeout), section: .fetching,
        "How long a connection may take, TLS included.")
    private static let bodySize = Flag(
        "max-body", .size(in: FetchSettings.bodySizes), default: ByteCount.text(of: Int(usual.maximumBody)), section: .fetching,
        "The largest body to accept.")
    private static let speedLimit = Flag(
        "limit-rate", .speed(in: FetchSettings.speeds), section: .fetching,
        "The most bytes of bodies a second that this process receives, from all hosts together, such as 500k, 1.5M or 2G (powers of 1024). Without "
            + "this option there is no limit. Compressed bodies count as they are sent. The time for which the limit holds a request back "
            + "is no part of '--timeout'."
    )
    private static let network = Flag(
        "allow-net", .network, isRepeatable: true, section: .fetching,
        "A private network to allow, such as 10.0.0.0/8, or 'all'. This option can be repeated.")
    private static let proxyURL = Flag(
        "proxy", .text("url"), section: .fetching,
        "A proxy for all requests: http://, https:// or socks5h://[user:password@]host:port. The proxy decides which addresses may be fetched from."
    )
    private static let certificates = Flag(
        "ca-file", .file(), section: .fetching, "A file of certificates (PEM) to trust for https:// instead of the system's.")
    private static let agent = Flag(
        "user-agent", .headerValue("text"), default: FetchSettings.defaultUserAgent, section: .fetching,
        "The name of this program in its requests.")

    private static let contactAddress = Flag(
        "contact", .headerValue("address"), section: .fetching,
        "An address where the owners of sites reach you: a web page or a mail address. It stands behind the user agent, as in 'gannet/1.0 "
            + "(+https://example.org/crawl)'.")

    private static let sendTrace = Toggle(
        "send-traceparent", section: .fetching,
        "Send a 'traceparent' header with each request of a batch that has a trace ('--traceparent'). It names the trace and the request itself. A "
            + "header of this name given with '--header' is sent instead. It is not sent on to another origin after a redirect.")

    /// Of a worker.
    static let drainTimeout = Flag(
        "drain-timeout", .duration(in: .zero...(.seconds(86_400))), default: "25s", section: .fetching,
        "How long requests in flight may go on after the first signal. Then their jobs are handed back.")

    private static func flags(_ count: FlagEntry, _ rate: FlagEntry, _ retries: [FlagEntry], _ lease: FlagEntry) -> [FlagEntry] {
        [count, hostCount.entry, rate] + retries + [
            connectPatience.entry, lease, timeoutTime.entry, connectTime.entry, bodySize.entry, speedLimit.entry, network.entry,
            proxyURL.entry, certificates.entry, agent.entry, contactAddress.entry,
        ]
    }

    /// Of commands that fetch the jobs of batches.
    static let flagsForJobs =
        flags(
            jobConcurrencyCount.entry, jobHostRate.entry, [retryCount.entry, patience.entry], leaseTime.entry) + [sendTrace.entry]

    /// Of commands that fetch URLs without jobs.
    static let flagsForCalls = flags(concurrencyCount.entry, hostRate.entry, [callRetries.entry], callLease.entry)

    init(_ arguments: Arguments, forJobs: Bool = true) throws {
        if forJobs {
            let number = try arguments.require(Self.jobConcurrencyCount)
            worker.concurrency = number ?? DescriptorLimit.raised().fitting(WorkerOptions.mostPlaces)
            worker.adaptsConcurrency = number == nil
            if let rate = try arguments.optional(Self.jobHostRate) {
                worker.adaptsPace = rate == nil
                worker.hostInterval = rate ?? .zero
            }
            worker.retryPolicy.giveUpAfter = try arguments.require(Self.patience)
        } else {
            worker.concurrency = try arguments.require(Self.concurrencyCount)
            worker.hostInterval = try arguments.optional(Self.hostRate) ?? .zero
        }
        worker.hostLimit = try arguments.require(Self.hostCount)
        worker.retryPolicy.retries = try arguments.require(forJobs ? Self.retryCount : Self.callRetries)
        worker.retryPolicy.hostPatience = try arguments.optional(Self.connectPatience).map { HostPatience($0) } ?? .usual
        worker.lease = try arguments.require(forJobs ? Self.leaseTime : Self.callLease)
        worker.sendsTrace = arguments.isSet(Self.sendTrace)
        worker.version = Version.current
        let times = Times.current
        worker.heartbeat = times.heartbeat
        worker.idleLook = times.idleLook
        worker.handBackTimeout = times.handBack
        worker.sitePause = times.sitePause
        worker.hostFirst = times.hostFirst
        settings.timeout = try arguments.require(Self.timeoutTime)
        settings.connectTimeout = try arguments.require(Self.connectTime)
        settings.maximumBody = Int64(try arguments.require(Self.bodySize))
        settings.maximumSpeed = try arguments.optional(Self.speedLimit)
        settings.allowedNetworks = try arguments.all(Self.network)
        settings.proxy = try arguments.optional(Self.proxyURL)
        settings.caFile = try arguments.optional(Self.certificates)
        settings.userAgent = try arguments.require(Self.agent)
        if let contact = try arguments.optional(Self.contactAddress) {
            // Parentheses are a comment's own.
            guard !contact.contains(where: { "()\\".contains($0) }), !contact.allSatisfy(\.isWhitespace) else {
                throw arguments.usageError("'--contact' takes an address without parentheses and backslashes.")
            }
            settings.userAgent = "\(settings.userAgent ?? FetchSettings.defaultUserAgent) (+\(contact))"
        }
    }

    /// For how long a host may put a job off.
    var giveUpAfter: Duration { worker.retryPolicy.giveUpAfter }

    /// The settings, once they have been found valid.
    func checkedSettings() throws -> FetchSettings {
        try DescriptorLimit.raised().check(concurrency: worker.concurrency)
        try settings.validate()
        return settings
    }

    func sayWhatProxyMeans(_ console: Console) {
        if settings.proxy == nil { return }
        console.note(
            "all requests go through the proxy. It decides which addresses may be fetched from, so private ones are not refused here.")
    }

    /// For a caller without a job. Its bodies go to the shared cache too.
    func fetching(cacheLimit: Int) -> ClusterFetch.Options {
        var options = ClusterFetch.Options()
        options.concurrency = worker.concurrency
        options.host = HostRule(limit: worker.hostLimit, interval: worker.hostInterval)
        options.hostPatience = worker.retryPolicy.hostPatience
        options.retries = worker.retryPolicy.retries
        options.lease = worker.lease
        options.bodyLimit = cacheLimit
        return options
    }
}
