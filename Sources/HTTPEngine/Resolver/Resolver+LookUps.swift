extension Resolver {
    /// Brings everything as far as it goes without waiting.
    func pump(at now: Instant) {
        while let serial = deadlines.popDue(at: now) { timeOut(serial, at: now) }
        while let serial = resends.popDue(at: now) { advance(serial, at: now) { $0.resend() } }
        while let serial = hurries.popDue(at: now) { advance(serial, at: now) { $0.finishWithWhatIsThere() } }
        if let due = nextTick, due <= now {
            for pool in [pool] + oldPools { pool.tick() }
            probe(at: now)
            nextTick = now + Self.tick
        }
        // A query may end in the call that sends it, and its end may send or start others.
        repeat { start(at: now) } while handleReplies(at: now)
        oldPools.removeAll { $0.outstanding == 0 }
        let isBusy = pool.outstanding > 0 || !oldPools.isEmpty
        nextTick = isBusy ? nextTick ?? now + Self.tick : nil
        deadlines.skipEnded { running.isUnderWay($0) }
        resends.skipEnded { running.isUnderWay($0) }
        hurries.skipEnded { running.isUnderWay($0) }
    }

    private func start(at now: Instant) {
        // Each look-up has two queries at most, besides those whose look-ups did not wait for them.
        while running.isWaiting, window.hasRoom(at: now), pool.outstanding < 2 * options.maximumOutstanding,
            let (serial, name) = running.nextWaiting()
        {
            let lookUp = LookUp(
                candidates: pool.configuration.candidates(for: name), servers: pool.configuration.servers.count,
                withIPv6: wantsIPv6(at: now))
            running.start(serial, lookUp, at: now)
            window.start(serial, at: now)
            deadlines.append(serial, due: now + options.timeout, living: window.count) { running.isUnderWay($0) }
            advance(serial, at: now) { $0.start() }
        }
    }

    /// True when there were some.
    private func handleReplies(at now: Instant) -> Bool {
        let replies = ([pool] + oldPools).flatMap { $0.takeReplies() }
        for reply in replies {
            switch reply.content {
            case .silence, .unreachable, .outOfMemory: break
            default: health.answered(at: now)
            }
            advance(reply.serial, at: now) { $0.receive(reply.content, to: reply.question) }
        }
        return !replies.isEmpty
    }

    func advance(_ serial: UInt64, at now: Instant, _ change: (inout LookUp) -> [LookUp.Action]) {
        for action in running.update(serial, change) ?? [] {
            switch action {
            case .ask(let question):
                if !pool.ask(question, for: serial, at: now) {
                    advance(serial, at: now) { $0.receive(.outOfMemory, to: question) }
                }
            case .resendLater:
                resends.append(serial, due: now + Self.shortWait, living: window.count) { running.isUnderWay($0) }
            case .hurry:
                hurries.append(serial, due: now + Self.shortWait, living: window.count) { running.isUnderWay($0) }
            case .finish(let resolution, let ttl):
                end(serial, resolution, ttl: ttl, at: now)
            }
        }
    }

    private func timeOut(_ serial: UInt64, at now: Instant) {
        guard running.isUnderWay(serial) else { return }
        // What half of it is known of is better than nothing.
        advance(serial, at: now) { $0.finishWithWhatIsThere() }
        if running.isUnderWay(serial) { end(serial, .failure(.timedOut), ttl: nil, at: now) }
    }

    private func end(_ serial: UInt64, _ resolution: Resolution, ttl: UInt32?, at now: Instant) {
        guard let ended = running.end(serial) else { return }
        window.end(serial)
        var resolution = resolution
        if resolution == .failure(.timedOut) || resolution == .failure(.noNameServer) {
            resolution = .failure(blame(since: ended.start, at: now))
        }
        let lifetime = ResolverCache.lifetime(of: resolution, ttl: ttl)
        if lifetime > .zero { cache.store(resolution, for: ended.name, until: now + lifetime, at: now) }
        finish(ended.ids, resolution)
    }

    /// Whose fault it is that no answer came.
    private func blame(since start: Instant, at now: Instant) -> ResolveFailure {
        if SystemLimit.lacksDescriptors { return .systemLimit }
        return health.areGone(since: start, at: now) ? .noNameServer : .timedOut
    }

    private func probe(at now: Instant) {
        guard let oldest = running.oldestStart(), health.takeProbe(oldest: oldest, at: now) else { return }
        for server in pool.configuration.servers.indices {
            // Its answer is nobody's; that there is one is all that counts.
            _ = pool.ask(LookUp.Question(name: "", type: .ns, server: server, overTCP: false), for: 0, at: now)
        }
    }
}
