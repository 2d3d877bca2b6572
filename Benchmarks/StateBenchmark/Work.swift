import BenchmarkKit
import ClusterState

/// The calls that workers make to the queue, without the fetches.
extension FetchQueue {
    func take(_ limit: Int, worker: Int = 0, hostLimit: Int = 1000) async throws -> Claim {
        let nonce = Nonce(.random(in: .min ... .max))
        var request = ClaimRequest(limit, lease: .seconds(600), nonce: nonce, worker: "w\(worker)")
        request.host = HostRule(limit: hostLimit)
        return try await claim(request)
    }

    func finish(_ jobs: [Job]) async throws {
        _ = try await settle(
            jobs.map { job in
                var page = OutcomeContent(url: job.entry.url)
                page.digest = job.entry.id.bytes + job.entry.id.bytes
                page.status = 200
                page.size = 10_000
                let kept = Retention(fresh: .seconds(3600), keep: .seconds(86_400))
                return Settlement(job.token, job.entry.id, .fetched(page, kept), host: .answered, bytes: page.size)
            }, random: 0.5)
    }

    /// Puts jobs back to where they came from.
    func handBack(_ jobs: [Job]) async throws {
        _ = try await settle(jobs.map { Settlement($0.token, $0.entry.id, .handedBack) }, random: 0.5)
    }

    /// `callers` tasks that claim and finish `limit` jobs at a time, until `most` are done or none is left. Returns how many were done.
    func work(callers: Int, limit: Int, most: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var done = 0
                    while done < most / callers {
                        let jobs = try await take(limit, worker: caller).jobs
                        if jobs.isEmpty { break }
                        try await finish(jobs)
                        done += jobs.count
                    }
                    return done
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Makes these hosts cool down for a day: each gets a job that it puts off.
    func block(_ hosts: Range<Int>) async throws {
        try await fill("blocking \(hosts)", hosts.count) {
            try Feed.entry(1_000_000_000 + hosts.lowerBound + $0, host: hosts.lowerBound + $0)
        }
        while true {
            let jobs = try await take(64).jobs
            if jobs.isEmpty { return }
            let pause = Duration.seconds(86_400)
            _ = try await settle(jobs.map { Settlement($0.token, $0.entry.id, .throttled(for: pause)) }, random: 0.5)
        }
    }
}
