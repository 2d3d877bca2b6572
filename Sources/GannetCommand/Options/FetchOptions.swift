import CommandLineKit
import Gannet
import GannetBasics
import HTTPEngine

/// How `run` and `work` fetch.
struct FetchOptions: Sendable {
    /// Requests in flight at once.
    var concurrency: Int
    /// Requests in flight at once at one host, from the whole fleet.
    var hostLimit: Int
    /// From the start of one request at a host to that of the next.
    var hostInterval: Duration?
    /// Attempts after the first.
    var retries: Int
    /// For how long a host may put a URL off.
    var giveUpAfter: Duration
    /// How long a job stays ours without a renewal.
    var lease: Duration
    /// How long a host may take no connection.
    var hostPatience: Duration
    /// Times and limits of one request.
    private var settings = FetchSettings()
    /// Origins are told of the traces that batches are a part of.
    var sendsTrace: Bool

    private static let usual = FetchSettings()
    private static let concurrencyCount = Flag(
        "concurrency", .integer(in: 1...10_000), default: "\(usual.maximumInFlight)", section: .fetching, "Requests in flight at once.")
    private static let hostCount = Flag(
        "host-limit", .integer(in: 1...10_000), default: "8", section: .fetching,
        "Requests in flight at once at one host, whatever the port, from all workers together.")
    private static let hostRate = Flag(
        "host-rate", .rate, section: .fetching,
        "Requests a second at one host, from all workers together; without it as many as there can be. A pause that has begun outlasts its run."
    )
    private static let retryCount = Flag(
        "retries", .integer(in: 0...100), default: "3", section: .fetching,
        "Further attempts after one that failed and may do better: no connection or a lost one, a timeout, a 5xx. A host that asks for patience "
            + "(408, 425, 429, 503) uses up none, nor does a proxy or a network that cannot be used.")
    private static let patience = Flag(
        "give-up-after", .duration(in: .milliseconds(1)...(.seconds(365 * 86_400))), default: "24h", section: .fetching,
        "How long a host may answer that it is too busy (429, 503) before a URL is given up.")
    private static let connectPatience = Flag(
        "host-patience", .duration(in: .zero...(.seconds(365 * 86_400))), default: "15m", section: .fetching,
        "How long a host may take no connection before all URLs that wait for it are given up; 0s for ever."
    )
    private static let leaseTime = Flag(
        "lease", .duration(in: .seconds(1)...(.seconds(3600))), default: "30s", section: .fetching,
        "How long a job stays with a worker that has gone silent.")
    private static let timeoutTime = Flag(
        "timeout", .duration(in: FetchSettings.times), default: TimeSpan.text(of: usual.timeout), section: .fetching,
        "For the whole of one request, redirects included; half of it for a server to begin its answer.")
    private static let connectTime = Flag(
        "connect-timeout", .duration(in: FetchSettings.times), default: TimeSpan.text(of: usual.connectTimeout), section: .fetching,
        "For connecting, TLS included.")
    private static let bodySize = Flag(
        "max-body", .size(in: FetchSettings.bodySizes), default: ByteCount.text(of: Int(usual.maximumBody)), section: .fetching,
        "The largest body to accept.")
    private static let network = Flag(
        "allow-net", .network, isRepeatable: true, section: .fetching,
        "A private network that may be fetched from, such as 10.0.0.0/8, or 'all'; can be repeated.")
    private static let proxyURL = Flag(
        "proxy", .text("url"), section: .fetching,
        "Go through http://, https:// or socks5h://[user:password@]host:port, whose business it is then which addresses are fetched from.")
    private static let certificates = Flag(
        "ca-file", .file(), section: .fetching, "Certificates (PEM) to trust for https:// instead of the system's.")
    private static let agent = Flag(
        "user-agent", .headerValue("text"), default: FetchSettings.defaultUserAgent, section: .fetching, "What to call ourselves.")

    private static let sendTrace = Toggle(
        "send-traceparent", section: .fetching,
        "Send 'traceparent' with each request of a batch that has one ('--traceparent'): its trace, and a parent of the request's own. A header of "
            + "this name given with '--header' is sent instead; it goes to no other origin when one redirects.")

    static let flags = [
        concurrencyCount.entry, hostCount.entry, hostRate.entry, retryCount.entry, patience.entry, connectPatience.entry, leaseTime.entry,
        timeoutTime.entry,
        connectTime.entry, bodySize.entry, network.entry, proxyURL.entry, certificates.entry, agent.entry,
    ]

    /// For those who fetch the jobs of batches.
    static let flagsForJobs = flags + [sendTrace.entry]

    init(_ arguments: Arguments) throws(UsageError) {
        concurrency = try arguments.require(Self.concurrencyCount)
        hostLimit = try arguments.require(Self.hostCount)
        hostInterval = try arguments.optional(Self.hostRate)
        retries = try arguments.require(Self.retryCount)
        giveUpAfter = try arguments.require(Self.patience)
        hostPatience = try arguments.require(Self.connectPatience)
        lease = try arguments.require(Self.leaseTime)
        settings.timeout = try arguments.require(Self.timeoutTime)
        settings.connectTimeout = try arguments.require(Self.connectTime)
        settings.maximumBody = Int64(try arguments.require(Self.bodySize))
        settings.allowedNetworks = try arguments.all(Self.network)
        settings.proxy = try arguments.optional(Self.proxyURL)
        settings.caFile = try arguments.optional(Self.certificates)
        settings.userAgent = try arguments.require(Self.agent)
        sendsTrace = arguments.isSet(Self.sendTrace)
    }
}

extension FetchOptions {
    /// For the engine; wrong values are the user's.
    func checkedSettings() throws(CommandFailure) -> FetchSettings {
        try DescriptorLimit.raised().check(concurrency: concurrency)
        do throws(InvalidOptions) {
            try settings.validate()
        } catch {
            throw CommandFailure(.wrongUsage, error.description)
        }
        return settings
    }

    func sayWhatProxyMeans(_ console: Console) {
        if settings.proxy == nil { return }
        console.note(
            "going through the proxy; which addresses are fetched from is its business now, and private ones are not refused here.")
    }

    /// For a caller without a job, whose bodies go to the shared cache too.
    func fetching(_ store: StoreOptions) -> ClusterFetch.Options {
        var options = ClusterFetch.Options()
        options.concurrency = concurrency
        options.lease = lease
        options.bodyLimit = store.cacheLimit
        return options
    }

    func workerOptions() -> WorkerOptions {
        var options = WorkerOptions()
        options.concurrency = concurrency
        options.hostLimit = hostLimit
        options.hostInterval = hostInterval ?? .zero
        options.retries = retries
        options.giveUpAfter = giveUpAfter
        options.hostPatience = hostPatience
        options.lease = lease
        options.sendsTrace = sendsTrace
        options.version = Version.current
        return options
    }
}
