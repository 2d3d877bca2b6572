import GannetTestKit
import Testing

@Suite struct PolitenessAuditTests {
    private let plan = WebPlan(.clean, hosts: [WebHost(number: 0), WebHost(number: 1)], urls: (0..<40).map { WebURL(number: $0, host: 0) })

    /// - Parameters:
    ///   - begun: In milliseconds, as the end is.
    private func request(
        _ begun: Int64, _ ended: Int64, _ path: WebRequest.Path = .url(0), status: UInt16 = 200, end: WebRequest.End = .complete,
        bytes: Int64 = 100, retryAfter: UInt16 = 0
    ) -> WebRequest {
        var request = WebRequest(begun: begun * 1_000_000, host: 0, path: path)
        request.ended = ended * 1_000_000
        request.end = end
        request.status = status
        request.bytes = bytes
        request.retryAfter = retryAfter
        return request
    }

    private func audit(_ requests: [WebRequest]) -> PolitenessAudit {
        var record = WebRecord(hosts: plan.hosts.count)
        record.requests = requests
        return PolitenessAudit(record, plan)
    }

    @Test func `a client that doubles is polite`() {
        var requests = [request(0, 10, .robots)]
        requests += (0..<2).map { request(10, 20, .url($0)) }
        requests += (2..<6).map { request(20, 30, .url($0)) }
        requests += (6..<14).map { request(30, 40, .url($0)) }
        requests += (14..<22).map { request(40, 50, .url($0)) }
        let audit = audit(requests)
        #expect(audit.mostInFlight == 8)
        #expect(audit.aboveAllowance == 0 && audit.beforeRobots == 0 && audit.examples.isEmpty)
    }

    @Test func `two requests to a host that has not answered are too many`() {
        let audit = audit([request(0, 10, .robots), request(1, 10)])
        #expect(audit.aboveAllowance == 1)
        #expect(audit.hostsAboveAllowance == 1)
        #expect(audit.beforeRobots == 1)
        #expect(audit.examples.first?.contains("had earned 1") == true)
    }

    @Test func `nine requests are above the limit`() {
        var requests = (0..<4).map { request(Int64($0) * 10, Int64($0) * 10 + 9) }
        requests += (0..<9).map { _ in request(100, 110) }
        #expect(audit(requests).aboveAllowance == 1)
    }

    @Test func `a silence takes the allowance back when its news are there`() {
        let earned = (0..<4).map { request(Int64($0) * 10, Int64($0) * 10 + 9) }
        let silence = request(50, 1000, status: 0, end: .left, bytes: 0)
        #expect(audit(earned + [silence, request(1050, 1060), request(1051, 1060)]).aboveAllowance == 0)
        #expect(audit(earned + [silence, request(2000, 2010), request(2001, 2010)]).aboveAllowance == 1)
    }

    @Test func `an idle host has to earn its allowance again`() {
        let requests = (0..<4).map { request(Int64($0) * 10, Int64($0) * 10 + 9) }
        #expect(audit(requests + [request(70_000, 70_010), request(70_001, 70_010)]).aboveAllowance == 1)
    }

    @Test func `a request before Retry-After is over is noticed`() {
        let throttled = request(0, 10, status: 429, retryAfter: 2)
        #expect(audit([throttled, request(1000, 1010)]).beforeRetryAfter == 1)
        #expect(audit([throttled, request(2011, 2020)]).beforeRetryAfter == 0)
        // It was under way when the answer came.
        #expect(audit([throttled, request(50, 60)]).beforeRetryAfter == 0)
    }

    @Test func `robots is asked for once by origin`() {
        #expect(audit([request(0, 10, .robots, status: 404), request(20, 30, .robots)]).robotsAskedAgain == 1)
        #expect(audit([request(0, 10, .robots, status: 500), request(20, 30, .robots)]).robotsAskedAgain == 0)
    }

    @Test func `a dead host's connections and requests are counted`() {
        var host = WebHost(number: 0)
        host.fate = .dead(.silentAnswer)
        let plan = WebPlan(.clean, hosts: [host], urls: [WebURL(number: 0, host: 0)])
        var record = WebRecord(hosts: 1)
        record.connections[0] = 2
        record.requests = [request(0, 10, end: .left, bytes: 0)]
        let dead = PolitenessAudit(record, plan) { $0 == "h0.web.test" ? 3 : 0 }.dead["silent-answer"]
        #expect(dead?.hosts == 1 && dead?.urls == 1 && dead?.connections == 2 && dead?.requests == 1 && dead?.lookUps == 3)
    }
}
