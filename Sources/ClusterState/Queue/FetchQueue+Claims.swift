internal import RedisClient

/// Claiming jobs and ending them.
extension FetchQueue {
    /// Leases up to `request.limit` jobs. A request that is repeated after a lost reply brings the same jobs.
    package func claim(_ request: ClaimRequest) async throws(StateError) -> Claim {
        guard (0...ClaimRequest.mostJobs).contains(request.limit) else {
            throw .invalid("A claim asks for at most \(ClaimRequest.mostJobs) jobs.")
        }
        let lease = try ClaimRequest.milliseconds(ofLease: request.lease)
        try request.host.check()
        let claim = try await StateError.mapping {
            try await Claim(
                run(
                    ClusterScripts.claim,
                    [
                        .integer(request.limit), .integer(lease), .bytes(request.nonce.bytes), .string(request.worker),
                        .string(request.inbox ?? ""), .integer(request.host.limit), .integer(request.host.interval.wholeMilliseconds),
                        .integer(request.mostDead), .bytes(ClaimRequest.poison), .integer(ClaimRequest.poisonKept.wholeMilliseconds),
                        .bytes(ClaimRequest.hostGivenUp),
                    ]))
        }
        // A failure here is ignored, so that the readable jobs are returned. The leases then end by themselves, and after three of them the
        // job is given up as poison.
        for job in claim.unreadable { await giveUpUnreadable(job.token, job.id) }
        return claim
    }

    private func giveUpUnreadable(_ token: LockToken, _ id: URLID) async {
        var content = OutcomeContent(url: "")
        content.fields = [.errorClass: ClaimRequest.unreadableClass, .errorMessage: "The job's URL is no text."]
        let retention = Retention(fresh: .zero, keep: .milliseconds(1), isStored: false)
        _ = try? await settle([Settlement(token, id, .failed(content, retention))], random: 0)
    }

    /// Extends the leases of `tokens`. Returns the tokens whose lease is lost.
    package func renew(_ tokens: [LockToken], lease: Duration) async throws(StateError) -> Set<LockToken> {
        try await cluster.renew(tokens, lease: lease)
    }

    /// Ends a job.
    ///
    /// A lease may be gone after an attempt whose reply was lost. That attempt most likely ended the lease, so the job counts as settled
    /// then.
    /// - Parameters:
    ///   - claimsAgain: False for a worker that is about to leave. Other workers are then told of the place that is free now.
    ///   - hostPatience: A host that takes no connection for longer is given up; zero for never.
    package func settle(
        _ settlement: Settlement, claimsAgain: Bool = true, hostPatience: Duration = .zero
    ) async throws(StateError) -> SettleAnswer {
        var mayHaveSettled = false
        return try await persistently {
            do throws(StateError) {
                let random = Double.random(in: 0...1)
                let answers = try await settle([settlement], claimsAgain: claimsAgain, hostPatience: hostPatience, random: random)
                guard let answer = answers.first else { return .lost }
                return answer == .lost && mayHaveSettled ? .settled : answer
            } catch {
                mayHaveSettled = mayHaveSettled || error.mayHaveExecuted
                throw error
            }
        }
    }

    /// Ends jobs with their outcomes, in one attempt.
    /// - Parameter random: From 0 to 1, to spread cool-downs.
    package func settle(
        _ settlements: [Settlement], claimsAgain: Bool = true, mostDead: Int = ClaimRequest.usualDead, hostPatience: Duration = .zero,
        random: Double
    ) async throws(StateError) -> [SettleAnswer] {
        try await cluster.settle(
            settlements, count: cluster.keys.count(of: name), claimsAgain: claimsAgain, mostDead: mostDead, hostPatience: hostPatience,
            random: random)
    }

    /// Takes a place for a job's request at the host that a redirect has led it to.
    /// - Parameter usual: The politeness towards hosts for which no rule is stored.
    package func move(_ token: LockToken, to host: String, usual: HostRule) async throws(StateError) -> Passage {
        try await persistently { try await cluster.move(token, to: host, usual: usual) }
    }

    /// Takes back all leases of the queue without charging the jobs, and returns their number. The caller must know that the holders of the
    /// leases are gone.
    @discardableResult
    package func reclaimAll() async throws(StateError) -> Int {
        try await persistently {
            var (cursor, taken) = (0, 0)
            repeat {
                let fields = try await run(ClusterScripts.reclaim, [.integer(cursor)]).fields(2, of: "reclaim")
                cursor = try fields[0].asInteger()
                taken += try fields[1].asInteger()
            } while cursor != 0
            return taken
        }
    }
}
