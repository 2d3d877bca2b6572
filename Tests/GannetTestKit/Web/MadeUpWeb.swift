// Linux only: epoll.
internal import GannetBase
internal import GannetHTTP

/// Thousands of hosts on loopback that behave as hosts of the web do: some are dead, some slow, some answer 429.
///
/// A profile and a seed decide all of it, see `WebPlan`. One thread serves all hosts, and answers 20,000 requests a second or more, so a client is measured and
/// the web is not. It writes down each request.
package final class MadeUpWeb: Sendable {
    package let plan: WebPlan
    package let ports: WebPorts
    /// The certificate that clients are to trust.
    package let authority: String
    /// It knows the names of all hosts but those that are dead in this way.
    package let dns: DNSServer

    private let ledger: WebLedger
    private let isStopped = Monitor(false)
    private let wake: Int32
    private let certificates: Certificates

    /// - Parameter dnsPort: The kernel chooses one unless it is given.
    package init(_ plan: WebPlan, dnsPort: UInt16 = 0) async throws {
        self.plan = plan
        certificates = try await Certificates.shared
        authority = certificates.authority
        let identities = try WebIdentities(certificates)
        let listeners = try WebListeners()
        ports = WebPorts(listeners)
        dns = try DNSServer(port: dnsPort) { Self.reply(to: $0, plan) }
        let stopEnd: Int32
        (stopEnd, wake) = try makeChannel()
        let ledger = WebLedger(hosts: plan.hosts.count)
        self.ledger = ledger
        let isStopped = isStopped
        OwnedThread.start(name: "made-up-web") {
            var loop = WebServerLoop(plan, listeners, identities, stopEnd: stopEnd, ledger: ledger)
            loop.run()
            isStopped.update { $0 = true }
        }
    }

    deinit {
        // The thread takes the end of the channel for the order to leave.
        close(wake)
    }

    package func url(_ number: Int) -> String {
        let url = plan.urls[number]
        return ports.origin(of: plan.hosts[url.host]) + url.path
    }

    /// The list that a client is to fetch.
    package var urls: [String] { plan.urls.map { url($0.number) } }

    /// The requests until now.
    package var record: WebRecord { ledger.record.withLock { $0 } }

    package func audit(_ rules: PolitenessRules = .init()) -> PolitenessAudit {
        PolitenessAudit(record, plan, rules) { self.dns.queries(for: $0, .a) + self.dns.queries(for: $0, .aaaa) }
    }

    /// - Parameter processor: The seconds that the processor needs for the whole list.
    package func analysis(processor: Double = 0) -> WebAnalysis {
        WebAnalysis(record, plan, audit(), processor: processor)
    }

    /// Ends all connections, and refuses new ones.
    package func stop() async throws {
        // Half a shutdown is an end of file to the other end, and the descriptor stays ours until deinit.
        shutdown(wake, Int32(SHUT_RDWR))
        try await isStopped.wait { $0 ? () : nil }
        try await dns.stop()
    }

    private static func reply(to question: DNSQuestion, _ plan: WebPlan) -> DNSReply {
        guard let number = WebHost.number(in: question.name), plan.hosts.indices.contains(number),
            plan.hosts[number].death != .noSuchName
        else { return .nameError.delayed(.seconds(plan.profile.nameLatency)) }
        return DNSReply(addresses: [.v4(plan.hosts[number].address)], ttl: 3600).delayed(.seconds(plan.profile.nameLatency))
    }
}

/// The certificates that hosts of a made-up web show.
struct WebIdentities: Sendable {
    private let good: TLSIdentity
    private let bad: [TLSIdentity]

    init(_ certificates: Certificates) throws(KitError) {
        good = try TLSIdentity(certificates.good)
        bad = [try TLSIdentity(certificates.expired), try TLSIdentity(certificates.selfSigned), try TLSIdentity(certificates.wrongHost)]
    }

    func identity(of host: WebHost) -> TLSIdentity { host.death == .badCertificate ? bad[host.number % bad.count] : good }
}
