@testable import ClusterState

/// Requests that redirects lead from host to host.
extension Model {
    mutating func check(move name: LockToken, to host: Int, _ answer: Passage, _ step: Step) throws(Violation) {
        let token = Token(name)
        var look = step.before
        let wanted: Passage
        if let flight = look.flights[token], flight.kind == .job, flight.ends > step.lived {
            wanted = passage(of: flight, token, to: host, in: &look, step.now)
        } else {
            wanted = .lost
        }
        try Violation.equal(answer, wanted, "the answer")
        try step.after.check(is: look, now: step.now)
        if wanted == .there, look != step.before, let from = step.before.flights[token].map({ self.host(of: $0) }) {
            for queue in 0..<2 {
                let places = (step.before.hosts[from]?.marks ?? []).count { $0 / 10 == queue }
                try checkWoken(queue, min(places, step.before.idle[queue]?.count ?? 0), step)
            }
        }
    }

    private func passage(of flight: FlightLook, _ token: Token, to host: Int, in look: inout StateLook, _ now: Int) -> Passage {
        let from = self.host(of: flight)
        if from == host { return .there }
        let rule = rule(of: host)
        var target = look.hosts[host] ?? HostLook()
        let opens = max(target.cool, target.next)
        let isFull = target.running >= (target.probing > 0 ? 1 : rule.limit)
        if target.probing == 2, isFull || opens > now { return .hopeless }
        if isFull { return .full(opensIn: nil) }
        if opens > now { return .full(opensIn: .milliseconds(opens - now)) }
        target.running += 1
        if rule.interval > .zero { target.next = now + rule.interval.wholeMilliseconds }
        look.hosts[host] = target
        look.hosts[from]!.running -= 1
        look.hosts[from]!.noteAnswer(now: now)
        look.flights[token]!.movedTo = host == self.host(of: flight.url) ? nil : host
        return .there
    }
}
