import Foundation
import GannetTestKit
import Testing

/// Workers that tell over HTTP how they are.
@Suite(.timeLimit(.minutes(2))) struct EndpointTests {
    /// A worker with two of six jobs in flight until the gate is opened, over a Redis that outlives a kill.
    private static func busyWorker(
        _ reason: OneServer? = nil, _ words: [String] = []
    ) async throws -> (Fleet, HostileServer, ListeningWorker) {
        let fleet = try await Fleet.start(reason, files: 4, redis: { $0.appendOnly = true })
        let gate = try fleet.gateList(after: 2)
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list] + fleet.connection)
        let worker = try await fleet.listeningWorker(words)
        try await gate.accepted(2)
        return (fleet, gate, worker)
    }

    @Test func `a worker says what it and its queue have done`() async throws {
        let fleet = try await Fleet.start(files: 30)
        let missing = "http://127.0.0.1:\(fleet.origin.port)/none"
        _ = try await fleet.outcome(["enqueue", "-i", fleet.list, missing] + fleet.connection)
        let worker = try await fleet.listeningWorker(["--concurrency", "7"])
        #expect(try await worker.wait(for: "/readyz", status: 200) == .init(status: 200, body: "ready\n"))
        #expect(try await worker.ask("/healthz") == .init(status: 200, body: "ok\n"))
        #expect(try await worker.ask("/").status == 404)
        try await worker.wait(for: "gannet_queue_jobs{queue=\"default\",state=\"dead\"}") { $0 == 1 }
        try await worker.wait(for: "gannet_queue_ended_total{queue=\"default\",outcome=\"fetched\"}") { $0 == 30 }
        #expect(try await worker.metric("gannet_worker_jobs_total{outcome=\"fetched\"}") == 30)
        #expect(try await worker.metric("gannet_worker_failures_total{class=\"http-404\"}") == 1)
        #expect(try await worker.metric("gannet_worker_failures_total{class=\"timeout\"}") == 0)
        #expect(try await worker.metric("gannet_worker_retries_total{class=\"timeout\"}") == 0)
        #expect(try await worker.metric("gannet_worker_fetch_duration_seconds_count{outcome=\"ok\"}") == 30)
        #expect(try await worker.metric("gannet_worker_concurrency") == 7)
        #expect(try await worker.metric("gannet_worker_concurrency_bound{reason=\"given\"}") == 1)
        let bytes = fleet.origin.files.reduce(0) { $0 + $1.size }
        #expect(try await worker.metric("gannet_worker_fetched_bytes_total") == Double(bytes))
        #expect(try await worker.metric("gannet_queue_fetched_bytes_total{queue=\"default\"}") == Double(bytes))
        #expect(try await worker.metric("gannet_redis_up") == 1)
        #expect(try await worker.metric("gannet_body_cache_limit_bytes") == 1_000_000_000)
        #expect(try #require(try await worker.metric("gannet_body_cache_memory_bytes")) > Double(bytes))
        #expect(try #require(try await worker.metric("process_resident_memory_bytes")) > 1_000_000)
        let asked = try await fleet.outcome(["health", "--ready", "--listen", String(worker.url.dropFirst("http://".count))])
        #expect(asked.status == 0 && asked.errors.isEmpty)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `a worker that is stopping is alive and not ready`() async throws {
        let (fleet, gate, worker) = try await Self.busyWorker()
        worker.process.signal(SIGTERM)
        _ = try await worker.process.errors.line { $0.hasPrefix("gannet: stopping") }
        #expect(try await worker.wait(for: "/readyz", status: 503).body.contains("stopping"))
        #expect(try await worker.ask("/healthz").status == 200)
        #expect(try await worker.metric("gannet_worker_stopping") == 1)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitStatus == .exited(143))
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `while Redis is gone for longer than a lease a worker lives and is not ready; then it goes on and nothing was charged`()
        async throws
    {
        let (fleet, gate, worker) = try await Self.busyWorker(.stopped, ["--lease", "2s"])
        try await fleet.redis.kill9()
        let end = ContinuousClock.now + .seconds(3)
        _ = try await worker.wait(for: "/readyz", status: 503)
        _ = try await worker.process.errors.line { $0.hasPrefix("gannet: waiting for Redis at ") }
        while ContinuousClock.now < end {
            let answer = try await worker.ask("/readyz")
            #expect(answer.status == 503 && !answer.body.contains("did not answer"), "\(answer.body)")
            #expect(try await worker.ask("/healthz").status == 200)
            #expect(try await worker.metric("gannet_redis_up") == 0)
            try await Task.sleep(for: .milliseconds(200))
        }
        try await fleet.redis.restart()
        _ = try await worker.wait(for: "/readyz", status: 200)
        // The end of the gate is a failure of the host that all of them share, which may rest then.
        _ = try await fleet.outcome(["enqueue", fleet.origin.urls[0] + "?later"] + fleet.connection)
        try await worker.wait(for: "gannet_worker_jobs_total{outcome=\"fetched\"}") { $0 >= 5 }
        try await gate.stop()
        // Redis' figures may be a second old, from before it came back.
        try await worker.wait(for: "gannet_redis_up") { $0 == 1 }
        #expect(try await worker.metric("gannet_queue_crashed_total{queue=\"default\"}") == 0)
        #expect(try await worker.metric("gannet_queue_double_fetches_total{queue=\"default\"}") == 0)
        #expect(worker.process.errors.lines.count < 20, "\(worker.process.errors.text)")
        worker.process.signal(SIGTERM)
        _ = try await worker.process.exitStatus
        try await fleet.stop()
    }

    @Test func `a Redis that takes no writes is not ready, and can be looked at`() async throws {
        let fleet = try await Fleet.start(.setUp, files: 1)
        let worker = try await fleet.listeningWorker()
        _ = try await worker.wait(for: "/readyz", status: 200)
        // A snapshot whose process is killed has failed, and with a plan for snapshots that ends writes.
        for command in [
            ["SET", "a", "b"], ["CONFIG", "SET", "rdb-key-save-delay", "100000000"], ["CONFIG", "SET", "save", "3600 1"], ["BGSAVE"],
        ] {
            _ = try await fleet.redis.command(command)
        }
        let server = try fleet.redis.pid
        let children = "/proc/\(server)/task/\(server)/children"
        var child: pid_t?
        try await eventually("the process of the snapshot is there") {
            child = try String(contentsOfFile: children, encoding: .utf8).split(separator: " ").first.flatMap { pid_t($0) }
            return child != nil
        }
        kill(try #require(child), SIGKILL)
        let answer = try await worker.wait(for: "/readyz", status: 503)
        #expect(answer.body.contains("write"), "\(answer.body)")
        #expect(try await worker.metric("gannet_redis_persistence_failing") == 1)
        #expect(try await worker.metric("gannet_redis_up") == 1)
        let status = try await fleet.outcome(["status"] + fleet.connection)
        #expect(status.status == 0, "\(status.errors)")
        _ = try await fleet.redis.command("CONFIG", "SET", "save", "")
        _ = try await worker.wait(for: "/readyz", status: 200)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `a Redis that comes back empty is reported loudly`() async throws {
        let (fleet, gate, worker) = try await Self.busyWorker()
        try await fleet.loseKeys()
        _ = try #require(
            try await worker.process.errors.line {
                $0.hasPrefix("gannet: JOBS ARE GONE: this queue had accepted 6 URLs, and Redis knows of 0")
            })
        #expect(try await worker.metric("gannet_queue_data_losses_total") == 1)
        worker.process.signal(SIGTERM)
        _ = try await worker.process.errors.line { $0.hasPrefix("gannet: stopping") }
        worker.process.signal(SIGTERM)
        _ = try await worker.process.exitStatus
        try await gate.stop()
        try await fleet.stop()
    }

    @Test func `a worker that should work until the queue is empty does not take an emptied one for that`() async throws {
        let (fleet, gate, worker) = try await Self.busyWorker(nil, ["--until-empty"])
        try await worker.wait(for: "gannet_queue_enqueued_total{queue=\"default\"}") { $0 == 6 }
        try await fleet.loseKeys()
        try await gate.stop()
        #expect(try await worker.process.exitStatus == .exited(69))
        #expect(worker.process.errors.text.contains("JOBS ARE GONE"))
        try await fleet.stop()
    }

    @Test func `a run can be asked too`() async throws {
        let fleet = try await Fleet.start(files: 4)
        let gate = try fleet.gateList(after: 2)
        let run = try fleet.start(fleet.run + ["--listen", "127.0.0.1:0"])
        let line = try #require(try await run.errors.line { $0.hasPrefix("gannet: listening on ") })
        let worker = ListeningWorker(process: run, url: String(try #require(line.split(separator: " ").dropFirst(3).first)))
        try await gate.accepted(2)
        _ = try await worker.wait(for: "/readyz", status: 200)
        #expect(try await worker.metric("gannet_worker_in_flight") == 2)
        try await gate.stop()
        run.signal(SIGTERM)
        _ = try await run.errors.line { $0.hasPrefix("gannet: stopping") }
        run.signal(SIGTERM)
        _ = try await run.exitStatus
        try await fleet.stop()
    }

    @Test func `an address that is taken, or where nobody answers, is exit 69`() async throws {
        let fleet = try await Fleet.start(files: 1)
        let worker = try await fleet.listeningWorker()
        let address = String(worker.url.dropFirst("http://".count))
        let second = try await fleet.outcome(["work", "--until-empty", "--listen", address] + fleet.connection)
        #expect(second.status == 69 && second.errors.contains("Cannot listen on 127.0.0.1 port"), "\(second.errors)")
        // The variable is the worker's, and a run beside it goes its way.
        let run = try await Program(home: "/dev/null/none", ["GANNET_LISTEN": address]).run(fleet.run)
        #expect(run.status == 0, "\(run.errors)")
        worker.process.signal(SIGTERM)
        _ = try await worker.process.exitStatus
        let nobody = try await fleet.outcome(["health", "--listen", address])
        #expect(nobody.status == 69 && nobody.errors.hasPrefix("Error: Nobody listens at \(worker.url)/healthz: "), "\(nobody.errors)")
        try await fleet.stop()
    }

    @Test func `where no private Redis may be started a missing address is wrong usage`() async throws {
        let folder = try TemporaryFolder()
        let commands = [["status"], ["work"], ["enqueue", "http://h/"], ["run", "http://h/", "-d", folder.file("out")]]
        for words in commands {
            let outcome = try await Program(home: "/dev/null/none", ["GANNET_NO_PRIVATE_REDIS": "true"]).run(words)
            #expect(outcome.status == 64, "\(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
    }

    /// A Redis in which a part of the bodies has room.
    private static func smallFleet() async throws -> Fleet {
        let fleet = try await Fleet.start(
            .setUp, redis: { $0.arguments = ["--maxmemory", "16mb", "--maxmemory-policy", "noeviction"] },
            origin: {
                $0.fileCount = 40
                $0.largestFile = 1_500_000
            })
        #expect(fleet.origin.files.reduce(0) { $0 + $1.size } > 18_000_000)
        _ = try await fleet.text(["enqueue", "-i", fleet.list, "--as-cache"])
        return fleet
    }

    @Test func `a worker says at once that Redis has no room for bodies, and goes on when there is room`() async throws {
        let fleet = try await Self.smallFleet()
        // No body can go for the sake of others: most of Redis is full of something else.
        _ = try await fleet.redis.command("SET", "others", String(repeating: "x", count: 15_000_000))
        let worker = try await fleet.listeningWorker()
        _ = try #require(
            try await worker.process.errors.line {
                $0.hasPrefix("gannet: Redis has a maxmemory of 16.8 MB, and '--cache-limit' lets bodies take 1.0 GB. ")
            }, "\(worker.process.errors.text)")
        let sentence = " has no room for more bodies: they wait."
        _ = try #require(try await worker.process.errors.line { $0.hasPrefix("gannet: Redis at ") && $0.contains(sentence) })
        #expect(try await worker.wait(for: "/readyz", status: 503).body.hasSuffix(" is full: bodies wait for room.\n"))
        try await eventually("status says that the worker waits for room") {
            let workers = try await fleet.json(["status"])["workers"] as? [[String: Any]]
            return workers?.first?["state"] as? String == "full"
        }
        #expect(try await fleet.text(["status"]).contains("waits for room"))
        _ = try await fleet.redis.command("CONFIG", "SET", "maxmemory", "0")
        _ = try #require(try await worker.process.errors.line { $0 == "gannet: Redis has room for bodies again; going on." })
        try await worker.wait(for: "gannet_queue_ended_total{queue=\"default\",outcome=\"fetched\"}") { $0 == 40 }
        _ = try await worker.wait(for: "/readyz", status: 200)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitStatus == .exited(0))
        try await fleet.stop()
    }

    @Test func `bodies make room for others in a full Redis, however long leases are, and all URLs are fetched`() async throws {
        let fleet = try await Self.smallFleet()
        let outcome = try await fleet.outcome(["work", "--until-empty", "--lease", "1h"] + fleet.local + fleet.connection)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let totals = try #require(try await fleet.json(["status"])["totals"] as? [String: Any])
        #expect(totals["fetched"] as? Int == 40 && totals["crashed"] as? Int == 0, "\(totals)")
        try await fleet.stop()
    }
}
