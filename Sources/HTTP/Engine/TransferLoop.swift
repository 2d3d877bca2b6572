import CCurl
internal import GannetBase

/// The engine's thread: owns libcurl, the resolver and every transfer. No other thread sees any of it.
///
/// A transfer waits in a queue, has its host looked up, waits for a place, and holds it until the outcome is there. A redirect's host is
/// looked up too, and the transfer keeps its place meanwhile. Other look-ups need no place: names without an answer hold up no transfer.
final class TransferLoop {
    let settings: EngineSettings
    private let inbox: TransferInbox
    private let poller: Poller
    let multi: MultiHandle
    private let sessions: TLSSessions
    let resolver: Resolver
    let speedLimit: SpeedLimit?
    var knownNames = KnownNames()
    private let buffers = BodyBuffers()

    var waiting = WaitingQueue<TransferTicket>()
    var lookingUp: [UInt64: Transfer] = [:]
    var ready = WaitingQueue<(Transfer, [IPAddress])>()
    /// Transfers that hold a place, including those that are resolving a redirect's host.
    var running: [UInt64: Transfer] = [:]
    /// The addresses of running transfers that wait for a connection.
    var heldBack: [UInt64: [IPAddress]] = [:]
    /// The running transfers that wait for permission to follow a redirect.
    var atGate: Set<UInt64> = []
    /// The running transfers whose body broke off, by the time at which its rest is asked for. All pauses are equally long.
    var pausing: [(id: UInt64, end: ContinuousClock.Instant)] = []
    /// Handles without a transfer, kept for the next ones. With the used ones they are never more than there are places.
    var spare: [EasyHandle] = []
    /// Kept even where handles are not: making a hasher costs more than hashing a small body.
    var spareHashers: [SHA256Hasher] = []
    /// Answers of this turn, delivered when libcurl has returned.
    var answers: [(TransferTicket, TransferTicket.Outcome)] = []
    /// Questions to callers of this turn, delivered likewise.
    var questions: [(TransferTicket, NextHop)] = []
    /// When the next transfer may have waited too long for an answer or an address.
    var nextReview: ContinuousClock.Instant?

    /// Runs until the inbox says stop. Then every unfinished transfer is cancelled.
    static func run(_ settings: EngineSettings, _ inbox: TransferInbox) {
        guard let loop = TransferLoop(settings, inbox) else {
            for ticket in inbox.close() {
                ticket.finish(.failure(FetchError(kind: .systemLimit, url: ticket.request.url, detail: "libcurl could not be started")))
            }
            return
        }
        loop.run()
    }

    private init?(_ settings: EngineSettings, _ inbox: TransferInbox) {
        guard let poller = Poller(), let multi = MultiHandle(poller, places: settings.fetch.maximumInFlight),
            let sessions = TLSSessions(),
            let resolver = try? Resolver(
                settings.fetch.resolver,
                watch: { socket, reads, writes in
                    guard reads || writes else { return poller.forget(socket) }
                    poller.watch(socket, .resolver, reads: reads, writes: writes)
                }),
            poller.watch(inbox.wakeup.readDescriptor, .inbox, reads: true, writes: false)
        else { return nil }
        self.settings = settings
        self.inbox = inbox
        self.poller = poller
        self.multi = multi
        self.sessions = sessions
        self.resolver = resolver
        speedLimit = settings.fetch.maximumSpeed.map { SpeedLimit(bytesPerSecond: $0) }
        // With a limit there is no HTTP/2.
        if speedLimit == nil { multi.connections.sharing = ConnectionSharing() }
    }

    private func run() {
        while turn() {}
        for ticket in inbox.close() { answers.append((ticket, .failure(ticket.cancellation))) }
        while let ticket = waiting.popFirst() { answers.append((ticket, .failure(ticket.cancellation))) }
        while let (transfer, _) = ready.popFirst() { end(transfer, .failure(transfer.ticket.cancellation)) }
        for transfer in Array(lookingUp.values) + Array(running.values) { end(transfer, .failure(transfer.ticket.cancellation)) }
        giveAnswers()
    }

    /// False when told to stop.
    private func turn() -> Bool {
        poller.wait(milliseconds: millisecondsToWait())
        inbox.lag.begin()
        defer { inbox.lag.end() }
        poller.takeReady { event in
            switch event.owner {
            case .inbox: inbox.wakeup.reset()
            case .transfers:
                multi.act(on: event)
                multi.connections.idleBuffers.touch(event.descriptor)
            case .resolver:
                resolver.act(on: event.descriptor, reads: event.isReadable || event.hasFailed, writes: event.isWritable)
            }
        }
        let batch = inbox.take()
        guard !batch.stops else {
            for ticket in batch.starts { answers.append((ticket, .failure(ticket.cancellation))) }
            return false
        }
        for ticket in batch.starts { waiting.append(ticket, id: ticket.id) }
        for id in batch.cancellations { cancel(id) }
        for id in batch.admissions { goOn(id) }

        resolver.process()
        endPauses()
        if let speedLimit { letPausedGoOn(speedLimit) }
        if let deadline = multi.deadline, deadline <= .now { multi.actOnTime() }
        goOnWithHops()
        // Transfers that have just begun take their first step at once. While an origin floods, libcurl always wants another step: the looks
        // at bodies and the messages of callers do not wait for the end of that.
        if let deadline = multi.deadline, deadline <= .now {
            multi.actOnTime()
            goOnWithHops()
        }
        review()
        if buffers.deadline != nil { buffers.drop(at: .now) }
        multi.connections.idleBuffers.drop(poller) { running[$0] }
        giveAnswers()
        return true
    }

    private func goOnWithHops() {
        takeLookUps()
        collect()
        fill()
    }

    private func millisecondsToWait() -> Int32 {
        let deadlines = [
            multi.deadline, resolver.deadline, nextReview, pausing.first?.end, speedLimit?.deadline, buffers.deadline,
            multi.connections.sharing?.deadline,
        ]
        guard let next = deadlines.compactMap(\.self).min() else { return 60_000 }
        return Int32(min(60_000, max(.zero, next - .now).milliseconds))
    }

    // MARK: Beginnings

    /// Moves waiting transfers on to look-ups and to places, as far as there is room.
    private func fill() {
        while lookingUp.count + ready.count < settings.fetch.maximumLookUps, let ticket = waiting.popFirst() {
            lookUp(Transfer(ticket, settings, buffers))
        }
        while running.count < settings.fetch.maximumInFlight, let (transfer, addresses) = ready.popFirst() {
            transfer.waited()
            running[transfer.id] = transfer
            request(transfer, addresses)
        }
        // An idle connection takes nearly as much memory as one that waits for its answer, above all under TLS.
        multi.connections.most = 2 * min(settings.fetch.maximumInFlight, max(Self.fewConnections, running.count))
        while let id = multi.connections.sharing?.next(at: .now) {
            guard let addresses = heldBack.removeValue(forKey: id), let transfer = running[id] else { continue }
            transfer.sharesConnections = true
            begin(transfer, addresses)
        }
    }

    private static let fewConnections = 64

    func lookUp(_ transfer: Transfer) {
        // A proxy looks up the hosts behind it by itself.
        let host = settings.proxy?.host ?? transfer.target.hostName
        // For an address there is nothing to look up, and nothing to tell libcurl.
        let isAddress = host.hasPrefix("[") || IPAddress(host) != nil
        if let result = isAddress ? Resolution.success([]) : resolver.resolve(host, for: transfer.id) {
            lookedUp(transfer, result)
        } else {
            lookingUp[transfer.id] = transfer
            review(by: transfer.deadline)
        }
    }

    private func takeLookUps() {
        for (id, result) in resolver.takeFinished() {
            if let transfer = lookingUp.removeValue(forKey: id) { lookedUp(transfer, result) }
        }
    }

    private func lookedUp(_ transfer: Transfer, _ result: Resolution) {
        transfer.lookedUp()
        switch result {
        case .failure(let failure):
            if let proxy = settings.proxy {
                let details = ["the name of the proxy, '\(proxy.host)', has no address", failure.detail]
                end(transfer, .failure(transfer.failure(.proxy, details.filter { !$0.isEmpty }.joined(separator: ": "))))
            } else {
                let isRedirect = transfer.state.isRedirected
                let details = [isRedirect ? "redirected to \(transfer.target)" : "", failure.detail]
                let detail = details.filter { !$0.isEmpty }.joined(separator: ": ")
                // An answer chose the name, and not the caller.
                let kind: FetchError.Kind = isRedirect && failure.kind == .invalidURL ? .refusedRedirect : failure.kind
                end(transfer, .failure(transfer.failure(kind, detail)))
            }
        case .success(let addresses) where running[transfer.id] == nil:
            transfer.waits()
            ready.append((transfer, addresses), id: transfer.id)
        case .success(let addresses): request(transfer, addresses)
        }
    }

    /// Hands the transfer's current hop to libcurl, or has it wait for a connection.
    private func request(_ transfer: Transfer, _ addresses: [IPAddress]) {
        if multi.connections.sharing != nil, transfer.target.isSecure {
            guard multi.connections.sharing?.admits(transfer.id, to: transfer.server, at: .now) == true else {
                heldBack[transfer.id] = addresses
                return
            }
            transfer.sharesConnections = true
        }
        begin(transfer, addresses)
    }

    private func begin(_ transfer: Transfer, _ addresses: [IPAddress]) {
        guard let handle = transfer.hasher.map(makeHandle) ?? spare.popLast() ?? makeHandle() else {
            end(transfer, .failure(transfer.failure(.systemLimit, "no libcurl handle")))
            return
        }
        transfer.hasher = nil
        transfer.handle = handle
        let name = settings.proxy.map { HostPort(host: $0.host, port: $0.port) } ?? transfer.server
        // The addresses of a proxy, which the user has named, are all permitted.
        let tried = settings.proxy == nil ? settings.addressGuard.worthTrying(addresses) : addresses
        let names = tried.isEmpty ? knownNames.forget() : knownNames.begin(name, tried)
        transfer.knownName = addresses.isEmpty ? nil : name
        transfer.state.connects()
        transfer.begins()
        guard handle.begin(transfer, names: names), multi.add(handle) else {
            end(transfer, .failure(transfer.failure(.engine, "no memory for the request")))
            return
        }
        review(by: .now + settings.reviewInterval)
    }

    private func makeHandle() -> EasyHandle? { makeHandle(spareHashers.popLast() ?? SHA256Hasher()) }

    private func makeHandle(_ hasher: SHA256Hasher) -> EasyHandle? {
        EasyHandle(
            settings, multi.connections, sessions, speedLimit, hasher, receiveBuffer: settings.receiveBuffer(beside: running.count))
    }

    /// Transfers that the speed limit has paused take what has come meanwhile, as far as the limit permits.
    private func letPausedGoOn(_ limit: SpeedLimit) {
        // A transfer whose time has ended is still in the queue, and libcurl would refuse to let it go on.
        collect()
        while let id = limit.next() {
            guard let transfer = running[id], let handle = transfer.handle else {
                limit.forget(id)
                continue
            }
            let code = multi.goOn(handle)
            if code != CURLE_OK { ended(transfer, handle, code) }
        }
    }

    private func review(by due: ContinuousClock.Instant) { nextReview = min(nextReview ?? due, due) }
}
