import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand
@testable import GannetQueue

/// The program while a part of its cluster is away.
@Suite(.timeLimit(.minutes(3))) struct ClusterOutageTests {
    @Test func `a worker goes on with the other partitions, and with the rest when the server is back`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let (fleet, _) = try await Fleet.start(.ownCluster, files: 10, hosts: 30)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { $0 !== home })
        try await away.kill9()
        let status = try await fleet.outcome(["status", "--json"] + redis)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any], "\(status.errors)")
        let there = try #require((object["jobs"] as? [String: Int])?["ready"])
        #expect(there > 0 && there < 300)
        let worker = try fleet.start(["work", "--until-empty", "--store", fleet.out] + fleet.local + redis)
        try await eventually("the other partitions are worked off") { try await fleet.origin.requests().count == there }
        try await away.restart()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(try await fleet.origin.requests().count == 300)
        // The outage was told once, and its end too.
        let lines = worker.errors.lines
        #expect(lines.count { $0.contains("waiting for Redis") } == 1 && lines.count { $0.contains("Redis is back") } == 1, "\(lines)")
        try await fleet.stop()
    }

    /// A list whose jobs and bodies lie on all servers, one of which is away. Answers how many URLs the other servers have.
    private static func loseServer(_ fleet: Fleet, _ cluster: RedisCluster) async throws -> (away: RedisServer, there: Int) {
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { $0 !== home })
        try await away.kill9()
        return (away, try #require(try await status(fleet, cluster, "jobs")["ready"]))
    }

    /// The numbers in a part of `status`.
    private static func status(_ fleet: Fleet, _ cluster: RedisCluster, _ part: String) async throws -> [String: Int] {
        let shown = try await fleet.outcome(["status", "--json", "--redis", cluster.url])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any], "\(shown.errors)")
        return try #require(object[part] as? [String: Int])
    }

    @Test func `bodies that wait for a server keep no host's place, and the others are stored meanwhile`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let (fleet, _) = try await Fleet.start(.ownCluster, files: 20, hosts: 15)
        let redis = ["--redis", cluster.url]
        let (away, there) = try await Self.loseServer(fleet, cluster)
        let worker = try fleet.start(["work", "--until-empty", "--host-limit", "2"] + fleet.local + redis)
        try await eventually("the other partitions' URLs are fetched") { try await fleet.origin.requests().count == there }
        // The jobs whose bodies have a server are done.
        let done = try #require(try await Self.status(fleet, cluster, "totals")["done"])
        #expect(done > 0 && done < there)
        try await away.restart()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(try await fleet.origin.requests().count == 300)
        try await fleet.stop()
    }

    @Test func `a worker that ends hands back the jobs whose bodies have no place, uncharged`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let (fleet, _) = try await Fleet.start(.ownCluster, files: 20, hosts: 15)
        let redis = ["--redis", cluster.url]
        let (away, there) = try await Self.loseServer(fleet, cluster)
        let worker = try fleet.start(["work", "--drain-timeout", "10ms"] + fleet.local + redis)
        try await eventually("the other partitions' URLs are fetched") { try await fleet.origin.requests().count == there }
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(143), "\(worker.errors.text)")
        #expect(!worker.errors.text.contains("did not confirm"), "\(worker.errors.text)")
        try await away.restart()
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + redis).status == 0)
        let totals = try await Self.status(fleet, cluster, "totals")
        #expect(totals["done"] == 300 && totals["crashed"] == 0, "\(totals)")
        try await fleet.stop()
    }

    @Test func `a worker whose bodies find no place is alive and not ready, until the server is back`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let hosts = (1...40).map { "127.0.0.\($0)" }
        let fleet = try await Fleet.start(.ownCluster) {
            $0.fileCount = 40
            $0.largestFile = 900_000
            $0.addresses = hosts
        }
        let urls = hosts.flatMap { host in fleet.origin.files.map { "http://\(host):\(fleet.origin.port)\($0.path)" } }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let (away, _) = try await Self.loseServer(fleet, cluster)
        let worker = try await fleet.listeningWorker(redis: cluster.url)
        try await worker.wait(for: "gannet_worker_standstill") { $0 == 1 }
        let answer = try await worker.ask("/readyz")
        #expect(answer.status == 503 && answer.body.contains("does not take the bodies of its "), "\(answer)")
        #expect(try await worker.ask("/healthz").status == 200)
        // The sums of a part would be counters that fell.
        try await worker.wait(for: "gannet_redis_up") { $0 == 0 }
        #expect(try await worker.ask("/metrics").body.contains("\ngannet_queue_enqueued_total") == false)
        try await away.restart()
        try await worker.wait(for: "gannet_worker_standstill") { $0 == 0 }
        _ = try await worker.wait(for: "/readyz", status: 200)
        worker.process.terminate()
        #expect(try await worker.process.exitStatus == .exited(0), "\(worker.process.errors.text)")
        try await fleet.stop()
    }

    @Test func `the line about an outage names the server that hangs, and the worker goes on elsewhere`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let (fleet, _) = try await Fleet.start(files: 5, hosts: 30)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        // The first address is another one's.
        let hung = try #require(cluster.nodes.dropFirst().first { $0 !== home })
        hung.pause()
        let worker = try fleet.start(["work", "--until-empty", "--store", fleet.out] + fleet.local + redis)
        let line = try #require(try await worker.errors.line { $0.contains("waiting for Redis") })
        #expect(line.contains("waiting for Redis at redis://127.0.0.1:\(hung.port ?? 0): "), "\(line)")
        #expect(line.contains("; it has partitions ") && line.hasSuffix(" of 16; work on the others goes on"), "\(line)")
        hung.resume()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(try await fleet.origin.requests().count == 150)
        try await fleet.stop()
    }

    @Test func `the line about a server that refuses the user names its partitions, and the worker goes on elsewhere`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        for node in cluster.nodes { try await node.ask("ACL", "SETUSER", "someone", "on", ">right", "~*", "&*", "+@all") }
        let redis = ["--redis", cluster.url.replacing("redis://", with: "redis://someone:right@")]
        let worker = try fleet.start(
            ["work", "--drain-timeout", "1s"] + fleet.local + redis, with: [Times.variable: Program.times + ",hand-back=500ms"])
        try await eventually("the worker is listed") { try await fleet.outcome(["workers", "list"] + redis).output.contains("idle") }
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let refusing = try #require(cluster.nodes.first { $0 !== home })
        try await refusing.ask("ACL", "SETUSER", "someone", "resetpass", ">other")
        try await refusing.ask("CLIENT", "KILL", "USER", "someone")
        let line = try #require(try await worker.errors.line { $0.contains("waiting for Redis") })
        #expect(line.contains("127.0.0.1:\(refusing.port ?? 0): "), "\(line)")
        #expect(
            line.contains("refused the user or password; it has partitions ") && line.hasSuffix("work on the others goes on"), "\(line)")
        let paused = try await fleet.outcome(["pause"] + redis)
        #expect(paused.status == 69 && paused.errors.contains("The queue is paused but for "), "\(paused)")
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        try await fleet.stop()
    }

    @Test func `the line about a slot that does not arrive names its partition, and other partitions are worked off`() async throws {
        let cluster = try await FreshClusters.take()
        let (fleet, _) = try await Fleet.start(.ownCluster, files: 2, hosts: 60)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let slot = try await cluster.slot(of: SpreadTags.of("gannet", count: 16)[5])
        let source = try await cluster.owner(of: slot)
        let target = try #require(cluster.nodes.first { $0 !== source })
        try await cluster.beginMoving(slot, from: source, to: target)
        #expect(try await cluster.moveKeys(3, of: slot, from: source, to: target) == 3)
        let worker = try fleet.start(["work", "--until-empty", "--store", fleet.out] + fleet.local + redis)
        let line = try #require(try await worker.errors.line { $0.contains("waiting for Redis") })
        #expect(line.contains("; it moves partition 5 of 16") && line.hasSuffix("work on the others goes on"), "\(line)")
        while try await cluster.moveKeys(100, of: slot, from: source, to: target) > 0 {}
        try await cluster.endMoving(slot, to: target)
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(try await fleet.origin.requests().count == 120)
        try await fleet.stop()
    }

    /// Starts an idle worker, and takes the server of the home partition or another one away.
    private static func idleWorker(
        _ fleet: Fleet, _ cluster: RedisCluster, losing isHome: Bool, _ lose: (RedisServer) async throws -> Void
    ) async throws -> (worker: ChildProcess, lost: RedisServer) {
        let redis = ["--redis", cluster.url]
        let worker = try fleet.start(
            ["work", "--drain-timeout", "1s"] + fleet.local + redis, with: [Times.variable: Program.times + ",hand-back=500ms"])
        try await eventually("the worker is listed") {
            try await fleet.outcome(["workers", "list"] + redis).output.contains("idle")
        }
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let lost = try #require(cluster.nodes.first { ($0 === home) == isHome })
        try await lose(lost)
        _ = try await worker.errors.line { $0.contains("waiting for Redis") }
        return (worker, lost)
    }

    @Test(arguments: [false, true])
    func `an idle worker that is stopped while a server is away ends with 0, says so, and is listed no longer`(hangs: Bool) async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let (worker, lost) = try await Self.idleWorker(fleet, cluster, losing: false) { node in
            if hangs { node.pause() } else { try await node.kill9() }
        }
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        let lines = worker.errors.lines.filter { $0.contains("ended without") }
        #expect(lines.count == 1 && lines[0].contains("of 16 partitions: URLs that were on their way"), "\(worker.errors.text)")
        let list = try await fleet.outcome(["workers", "list", "--redis", cluster.url])
        #expect(list.status == 0 && list.output == "" && list.errors.contains("no worker"), "\(list)")
        if hangs { lost.resume() }
        try await fleet.stop()
    }

    @Test func `an idle worker whose own record is away ends with 0 and says that it stays listed`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let (worker, lost) = try await Self.idleWorker(fleet, cluster, losing: true) { try await $0.kill9() }
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        #expect(worker.errors.text.contains("'workers list' shows this worker as silent for ten minutes"), "\(worker.errors.text)")
        try await lost.restart()
        try await eventually("the worker is listed as silent") {
            try await fleet.outcome(["workers", "list", "--redis", cluster.url]).output.contains("silent")
        }
        try await fleet.stop()
    }

    @Test func `a drain while a server is away ends the worker, and the command with 0`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let (worker, _) = try await Self.idleWorker(fleet, cluster, losing: false) { try await $0.kill9() }
        let drained = try await fleet.outcome(["workers", "drain", "--all", "--redis", cluster.url])
        #expect(drained.status == 0 && drained.output == "Ended: 1 of 1 worker of the queue 'default'.\n", "\(drained)")
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        try await fleet.stop()
    }

    @Test func `Sentinels name the primary, and a worker follows a failover without a restart`() async throws {
        let sentinels = try await RedisSentinels.start()
        let fleet = try await Fleet.start(.ownCluster, files: 60)
        let redis = ["--redis", sentinels.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "b", "--durability", "replicated"] + redis).status == 0)
        // So slow that most URLs are left when the primary ends, however busy the machine is.
        let slow = ["--concurrency", "1", "--host-rate", "15"]
        let words = ["work", "--store", fleet.out, "--until-empty", "--lease", "3s"] + slow + fleet.local + redis
        let worker = try await fleet.start(words, untilFetched: 5)
        try await sentinels.primary.kill9()
        #expect(try await worker.exitStatus == .exited(0), "\(worker.errors.text)")
        let status = try await fleet.outcome(["status"] + redis)
        #expect(status.output.contains("progress  finished") && status.output.contains("60 fetched"), "\(status.output)")
        let requests = try await fleet.requests()
        #expect(requests.count == 60)
        try await fleet.stop()
    }
}
