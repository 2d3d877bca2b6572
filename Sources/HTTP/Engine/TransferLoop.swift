import CCurl
internal import GannetBase

/// The engine's thread: owns libcurl, the resolver and every transfer. No other thread sees any of it.
///
/// A transfer waits in a queue, has its host looked up, waits for a place, and holds it until the outcome is there. A redirect's host is
/// looked up too, and the transfer keeps its place meanwhile. Other look-ups need no place: names without an answer hold up no transfer.
final class TransferLoop {
    private let settings: EngineSettings
    private let inbox: TransferInbox
    private let poller: Poller
    private let multi: MultiHandle
    private let sessions: TLSSessions
    private let lookUps: LookUps
    private let speedLimit: SpeedLimit?
    private var knownNames = KnownNames()
    private let buffers = BodyBuffers()

    private var waiting = WaitingQueue<TransferTicket>()
    private var lookingUp: [UInt64: Transfer] = [:]
    private var ready = WaitingQueue<(Transfer, [IPAddress])>()
    /// Transfers that hold a place, including those that are resolving a redirect's host.
    private var running: [UInt64: Transfer] = [:]
    /// The addresses of running transfers that wait for a connection.
    private var heldBack: [UInt64: [IPAddress]] = [:]
    /// The running transfers that wait for permission to follow a redirect.
    private var atGate: Set<UInt64> = []
    /// The running transfers whose body broke off, by the time at which its rest is asked for. All pauses are equally long.
    private var pausing: [(id: UInt64, end: ContinuousClock.Instant)] = []
    /// Handles without a transfer, kept for the next ones. With the used ones they are never more than there are places.
    private var spare: [EasyHandle] = []
    /// Kept even where handles are not: making a hasher costs more than hashing a small body.
    private var spareHashers: [SHA256Hasher] = []
    /// Answers of this turn, delivered when libcurl has returned.
    private var answers: [(TransferTicket, TransferTicket.Outcome)] = []
    /// Questions to callers of this turn, delivered likewise.
    private var questions: [(TransferTicket, NextHop)] = []
    /// When the next transfer may have waited too long for an answer or an address.
    private var nextReview: ContinuousClock.Instant?

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
            let lookUps = try? LookUps(settings.fetch.resolver, poller),
            poller.watch(inbox.wakeup.readDescriptor, .inbox, reads: true, writes: false)
        else { return nil }
        self.settings = settings
        self.inbox = inbox
        self.poller = poller
        self.multi = multi
        self.sessions = sessions
        self.lookUps = lookUps
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
        lookUps.watch()
        poller.wait(milliseconds: millisecondsToWait())
        inbox.lag.begin()
        defer { inbox.lag.end() }
        poller.takeReady { event in
            switch event.owner {
            case .inbox: inbox.wakeup.reset()
            case .transfers:
                multi.act(on: event)
                multi.connections.touch(event.descriptor)
            case .resolver: lookUps.act(on: event)
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

        lookUps.actOnTime()
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
        dropIdleBuffers()
        giveAnswers()
        return true
    }

    /// A transfer under TLS that waits for its answer needs no buffers. After the request libcurl still has one, and after a session ticket
    /// OpenSSL has.
    private func dropIdleBuffers() {
        for socket in multi.connections.takeTouched() {
            guard let id = multi.connections.waiting[socket], let transfer = running[id], let handle = transfer.handle,
                !transfer.state.hasAnswer
            else {
                multi.connections.waiting[socket] = nil
                continue
            }
            // Where something is left to send, an event of the socket follows.
            if poller.onlyReads(socket) { handle.dropIdleBuffers() }
        }
    }

    private func goOnWithHops() {
        takeLookUps()
        collect()
        fill()
    }

    private func millisecondsToWait() -> Int32 {
        let deadlines = [
            multi.deadline, lookUps.deadline, nextReview, pausing.first?.end, speedLimit?.deadline, buffers.deadline,
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

    private func lookUp(_ transfer: Transfer) {
        // A proxy looks up the hosts behind it by itself.
        let host = settings.proxy?.host ?? transfer.target.hostName
        if let result = lookUps.resolve(host, for: transfer.id) {
            lookedUp(transfer, result)
        } else {
            lookingUp[transfer.id] = transfer
            review(by: transfer.deadline)
        }
    }

    private func takeLookUps() {
        for (id, result) in lookUps.takeFinished() {
            if let transfer = lookingUp.removeValue(forKey: id) { lookedUp(transfer, result) }
        }
    }

    private func lookedUp(_ transfer: Transfer, _ result: Resolution) {
        transfer.lookedUp()
        switch result {
        case .failure(let failure):
            if let proxy = settings.proxy {
                let details = ["the name of the proxy, '\(proxy.host)', has no address", failure.description]
                end(transfer, .failure(transfer.failure(.proxy, details.filter { !$0.isEmpty }.joined(separator: ": "))))
            } else {
                let isRedirect = transfer.state.isRedirected
                let details = [isRedirect ? "redirected to \(transfer.target)" : "", failure.description]
                let detail = details.filter { !$0.isEmpty }.joined(separator: ": ")
                end(transfer, .failure(transfer.failure(failure.kind(isRedirect: isRedirect), detail)))
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
            guard multi.connections.sharing?.admits(transfer.id, to: transfer.sharedOrigin, at: .now) == true else {
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
        let name = settings.proxy.map { ($0.host, $0.port) } ?? (transfer.target.hostName, transfer.target.port)
        // The addresses of a proxy, which the user has named, are all permitted.
        let tried = settings.proxy == nil ? settings.addressGuard.worthTrying(addresses) : addresses
        let names = tried.isEmpty ? knownNames.forget() : knownNames.begin(name.0, name.1, tried)
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

    // MARK: Endings

    private func collect() {
        while let (handle, code) = multi.nextEnded() {
            if let transfer = handle.transfer { ended(transfer, handle, code) }
        }
    }

    private func ended(_ transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode) {
        if transfer.state.hasFoundLeftover || transfer.state.wasLeftUnanswered(code) {
            repeatOnNewConnection(transfer, handle)
            return
        }
        transfer.keepExchange(code)
        do throws(FetchError) {
            guard let next = try transfer.nextTarget() else {
                conclude(transfer, handle, code)
                return
            }
            takeOut(transfer, handle)
            let hop = NextHop(from: transfer.target, to: next)
            transfer.go(to: next)
            if transfer.ticket.askedHops.include(hop) { ask(transfer, about: hop) } else { lookUp(transfer) }
        } catch {
            end(transfer, .failure(error))
        }
    }

    /// The transfer has its outcome, or goes on with the rest of a body that broke off.
    private func conclude(_ transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode) {
        let outcome = handle.outcome(code, settings)
        guard case .failure(let failure) = outcome, transfer.asksForRest(after: failure) else {
            end(transfer, outcome)
            return
        }
        // The hasher has a part of the body.
        transfer.hasher = handle.hasher
        takeOut(transfer, handle)
        pausing.append((transfer.id, .now + BodyContinuation.pause))
    }

    private func endPauses() {
        while let first = pausing.first, first.end <= .now {
            pausing.removeFirst()
            guard let transfer = running[first.id] else { continue }
            transfer.restartsHop()
            lookUp(transfer)
        }
    }

    /// The time at the gate is not the transfer's own.
    private func ask(_ transfer: Transfer, about hop: NextHop) {
        transfer.waits()
        atGate.insert(transfer.id)
        questions.append((transfer.ticket, hop))
    }

    private func goOn(_ id: UInt64) {
        guard atGate.remove(id) != nil, let transfer = running[id] else { return }
        transfer.waited()
        lookUp(transfer)
    }

    private func repeatOnNewConnection(_ transfer: Transfer, _ handle: EasyHandle) {
        multi.remove(handle)
        transfer.startsAnew()
        transfer.begins()
        if !handle.repeatOnNewConnection(within: transfer.timeLeft) || !multi.add(handle) {
            end(transfer, .failure(transfer.failure(.engine, "no memory for the request")))
        }
    }

    private func cancel(_ id: UInt64) {
        if let ticket = waiting.remove(id) {
            answers.append((ticket, .failure(ticket.cancellation)))
        } else if let transfer = ready.remove(id)?.0 ?? lookingUp[id] ?? running[id] {
            end(transfer, .failure(transfer.ticket.cancellation))
        }
    }

    /// Ends transfers whose answer, or whose host's address, is overdue, and those whose body does not move. libcurl watches the other times.
    private func review() {
        let now = ContinuousClock.now
        guard let due = nextReview, due <= now else { return }
        var next = running.isEmpty ? nil : now + settings.reviewInterval
        for transfer in Array(running.values) {
            guard let deadline = transfer.nextLook else { continue }
            if deadline <= now, let handle = transfer.handle, !transfer.look(at: now) {
                conclude(transfer, handle, CURLE_OPERATION_TIMEDOUT)
            } else if let deadline = transfer.nextLook {
                next = min(next ?? deadline, deadline)
            }
        }
        for transfer in Array(lookingUp.values) {
            if transfer.deadline <= now {
                end(transfer, .failure(transfer.failure(.timeout(.resolve), "no time is left for the whole")))
            } else {
                next = min(next ?? transfer.deadline, transfer.deadline)
            }
        }
        // One look serves many transfers: a look at all of them for each one would cost too much.
        nextReview = next.map { max($0, now + .milliseconds(20)) }
    }

    /// An outcome with its times, where somebody may ask for them. A fast success pays nothing for them.
    private func timed(_ outcome: TransferTicket.Outcome, of transfer: Transfer) -> TransferTicket.Outcome {
        switch outcome {
        case .success(var download):
            guard download.duration >= PhaseTimes.slow else { return outcome }
            download.phases = transfer.phases
            return .success(download)
        case .failure(var error):
            error.phases = transfer.phases
            return .failure(error)
        }
    }

    /// Frees everything of the transfer, wherever it is, and notes the answer.
    private func end(_ transfer: Transfer, _ outcome: TransferTicket.Outcome) {
        let outcome = timed(transfer.withoutRest(outcome), of: transfer)
        if lookingUp.removeValue(forKey: transfer.id) != nil { lookUps.cancel(transfer.id) }
        running[transfer.id] = nil
        atGate.remove(transfer.id)
        if heldBack.removeValue(forKey: transfer.id) != nil { multi.connections.sharing?.forget(transfer.id) }
        if let handle = transfer.handle {
            takeOut(transfer, handle)
        }
        leaveConnection(transfer)
        answers.append((transfer.ticket, outcome))
    }

    private func leaveConnection(_ transfer: Transfer) {
        guard transfer.sharesConnections else { return }
        transfer.sharesConnections = false
        multi.connections.sharing?.ended(to: transfer.sharedOrigin)
    }

    /// Takes a hop out of libcurl, which closes the connection of an unfinished one.
    private func takeOut(_ transfer: Transfer, _ handle: EasyHandle) {
        speedLimit?.forget(transfer.id)
        multi.remove(handle)
        leaveConnection(transfer)
        handle.end()
        transfer.handle = nil
        // A body that broke off keeps its hasher, and so this handle is dropped.
        if transfer.hasher == nil {
            if CurlLibrary.mayReuseHandles { spare.append(handle) } else { spareHashers.append(handle.hasher) }
        }
        if let (host, port) = transfer.knownName { knownNames.end(host, port) }
        transfer.knownName = nil
    }

    private func giveAnswers() {
        for (ticket, hop) in questions { ticket.ask(about: hop) }
        questions.removeAll(keepingCapacity: true)
        for (ticket, outcome) in answers { ticket.finish(outcome) }
        answers.removeAll(keepingCapacity: true)
    }
}
