import CCurl
internal import GannetBase

/// How transfers end, or go on with another hop or with the rest of a body.
extension TransferLoop {
    func collect() {
        while let (handle, code) = multi.nextEnded() {
            if let transfer = handle.transfer { ended(transfer, handle, code) }
        }
    }

    func ended(_ transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode) {
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
            if transfer.ticket.asks(about: hop) { ask(transfer, about: hop) } else { lookUp(transfer) }
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

    func endPauses() {
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

    func goOn(_ id: UInt64) {
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

    func cancel(_ id: UInt64) {
        if let ticket = waiting.remove(id) {
            answers.append((ticket, .failure(ticket.cancellation)))
        } else if let transfer = ready.remove(id)?.0 ?? lookingUp[id] ?? running[id] {
            end(transfer, .failure(transfer.ticket.cancellation))
        }
    }

    /// Ends transfers whose answer, or whose host's address, is overdue, and those whose body does not move. libcurl watches the other times.
    func review() {
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
    func end(_ transfer: Transfer, _ outcome: TransferTicket.Outcome) {
        let outcome = timed(transfer.withoutRest(outcome), of: transfer)
        if lookingUp.removeValue(forKey: transfer.id) != nil { resolver.cancel(transfer.id) }
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
        multi.connections.sharing?.ended(to: transfer.server)
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
            if MultiHandle.mayReuseHandles { spare.append(handle) } else { spareHashers.append(handle.hasher) }
        }
        if let name = transfer.knownName { knownNames.end(name) }
        transfer.knownName = nil
    }

    func giveAnswers() {
        for (ticket, hop) in questions { ticket.ask(about: hop) }
        questions.removeAll(keepingCapacity: true)
        for (ticket, outcome) in answers { ticket.finish(outcome) }
        answers.removeAll(keepingCapacity: true)
    }
}
