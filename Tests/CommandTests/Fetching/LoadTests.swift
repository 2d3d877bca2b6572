import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

/// Many at once, and the slow among the quick.
@Suite(.timeLimit(.minutes(5))) struct LoadTests {
    /// As many URLs as are asked for, without a file for each.
    private static let answers = "location /n/ { return 200 $uri; }"

    private func write(_ urls: [String], for fleet: Fleet) throws {
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
    }

    private func totals(_ fleet: Fleet) async throws -> (totals: [String: Int], jobs: [String: Int]) {
        let outcome = try await fleet.outcome(["status", "--json"] + fleet.connection)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        return (try #require(json["totals"] as? [String: Int]), try #require(json["jobs"] as? [String: Int]))
    }

    @Test func `eight workers and three producers with the same ten thousand URLs ask for each once`() async throws {
        // A producer needs more than one call for them.
        let count = 10_000
        let fleet = try await Fleet.start { $0.directives = Self.answers }
        let urls = (0..<count).map { fleet.origin.url("/n/\($0)") }
        try write(urls, for: fleet)
        let workers = try (0..<8).map { _ in
            try fleet.start(["work", "--concurrency", "16", "--host-limit", "128"] + fleet.local + fleet.connection)
        }
        let producers = try (0..<3).map { _ in try fleet.start(["enqueue", "-i", fleet.list, "--wait", "--quiet"] + fleet.connection) }
        for producer in producers { #expect(try await producer.exitStatus == .exited(0)) }
        for worker in workers { worker.terminate() }
        for worker in workers { #expect(try await worker.exitStatus == .exited(0)) }

        let requests = try await fleet.requests()
        #expect(requests.count == count && requests.values.allSatisfy { $0 == 1 })
        let (totals, jobs) = try await totals(fleet)
        #expect(totals["enqueued"] == 3 * count && totals["done"] == 3 * count)
        #expect(totals["fetched"] == count && totals["cached"] == 2 * count)
        #expect(["failed", "retried", "crashed", "fenced", "doubleFetches", "cancelled"].allSatisfy { totals[$0] == 0 }, "\(totals)")
        #expect(jobs.values.allSatisfy { $0 == 0 }, "\(jobs)")
        try await fleet.stop()
    }

    @Test func `a worker that is told to end under load loses and charges nothing`() async throws {
        // A response of a second each, so that there is always something in flight: nginx gives the first second's bytes at once.
        let fleet = try await Fleet.start {
            $0.fileCount = 3
            $0.largestFile = 60_000
            $0.directives = "location /slow/ { alias files/; limit_rate 6k; try_files /2.bin =404; }" + Self.answers
        }
        let urls = (0..<2000).map { fleet.origin.url("/\($0 % 3 == 0 ? "slow" : "n")/\($0)") }
        try write(urls, for: fleet)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let words = ["work", "--concurrency", "32", "--host-limit", "32"] + fleet.local + fleet.connection
        for _ in 0..<3 {
            let worker = try await fleet.start(words, untilFetched: 20)
            worker.terminate()
            #expect(try await worker.exitStatus == .exited(0))
            try await worker.errors.finished()
            #expect(worker.errors.text.contains("gannet: stopping; "))
            let (totals, jobs) = try await totals(fleet)
            #expect(jobs["active"] == 0 && jobs["delayed"] == 0 && jobs["parked"] == 0)
            #expect(totals["done", default: 0] + jobs["ready", default: 0] == 2000)
            #expect(["failed", "retried", "crashed", "fenced"].allSatisfy { totals[$0] == 0 }, "\(totals)")
        }
        try await fleet.stop()
    }

    @Test func `a worker that is told twice to end hands back its jobs and ends at once`() async throws {
        let fleet = try await Fleet.start { $0.fileCount = 1 }
        let silent = try HostileServer(.silence)
        let urls = (0..<100).map { "http://127.0.0.1:\(silent.port)/\($0)" }
        try write(urls, for: fleet)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let worker = try fleet.start(
            ["work", "--concurrency", "16", "--host-limit", "16", "--drain-timeout", "1h"] + fleet.local + fleet.connection,
            with: [Times.variable: Program.times + ",host-first=16"])
        try await silent.accepted(16)
        worker.terminate()
        _ = try await worker.errors.line { $0.hasPrefix("gannet: stopping; 16 URLs in flight") }
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(143))
        let (totals, jobs) = try await totals(fleet)
        #expect(jobs["ready"] == 100 && jobs["active"] == 0 && totals["crashed"] == 0 && totals["retried"] == 0)
        try await silent.stop()
        try await fleet.stop()
    }

    @Test func `hosts that hang do not hold up jobs of good hosts`() async throws {
        let fleet = try await Fleet.start {
            $0.directives = Self.answers
            $0.addresses = ["127.0.0.1", "127.0.0.3"]
        }
        // Two hosts of two hundred URLs each that say nothing at all, and then the good.
        let hanging = try HostileServer(.silence)
        let hung = ["127.0.0.1", "localhost"].flatMap { host in (0..<200).map { "http://\(host):\(hanging.port)/\($0)" } }
        let good = (0..<1000).map { "http://127.0.0.3:\(fleet.origin.port)/n/\($0)" }
        try write(hung + good, for: fleet)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let worker = try await fleet.start(
            ["work", "--timeout", "1h"] + fleet.local + fleet.connection, untilFetched: 1000,
            with: [Times.variable: Program.times + ",host-first=1"])
        let (_, jobs) = try await totals(fleet)
        #expect(jobs["active"] == 2 && jobs["ready"] == 398 && hanging.connections == 2)
        worker.kill()
        _ = try await worker.exitStatus
        try await hanging.stop()
        try await fleet.stop()
    }
}
