import Foundation
import GannetTestKit
import Testing

@testable import GannetCommand

/// The program on a real cluster: three primaries with their replicas.
@Suite(.timeLimit(.minutes(3))) struct ClusterStatusTests {
    @Test func `a list is spread over a cluster, fetched, shown and exported as on one server`() async throws {
        let cluster = try await RedisCluster.start()
        let (fleet, urls) = try await Fleet.start(.ownCluster, files: 5, hosts: 20)
        let redis = ["--redis", cluster.url]
        func text(_ words: [String]) async throws -> String {
            let outcome = try await fleet.outcome(words + redis)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            return outcome.output
        }
        let enqueued = try await text(["enqueue", "-i", fleet.list, "--batch", "b", "--durability", "replicated"])
        #expect(enqueued.hasPrefix("Accepted 100 URLs"))
        #expect(try await text(["status"]).contains("partitions  16 on 3 primaries"))
        for node in cluster.nodes.prefix(3) {
            guard case .integer(let keys) = try await node.command("DBSIZE") else { throw KitError("no size") }
            #expect(keys > 0)
        }
        _ = try await text(["work", "--until-empty"] + fleet.local)
        #expect(try await fleet.origin.requests().count == 100)
        let status = try await text(["status"])
        #expect(status.contains("progress    finished") && status.contains("done        100 (100 fetched"))
        #expect(try await text(["export", "--batch", "b", "-d", fleet.out]).hasPrefix("100 bodies written, 0 failed"))
        #expect(try await text(["doctor"]).contains("Everything is as it should be."))
        #expect(try await text(["get", urls[7]]).isEmpty == false)
        try await fleet.stop()
    }

    @Test func `a server that is away is named, and the others' jobs are counted`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let urls = (1...60).map { "http://host\($0).example/" }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let redis = ["--redis", cluster.url]
        let enqueued = try await fleet.outcome(["enqueue", "-i", fleet.list] + redis)
        #expect(enqueued.status == 0, "\(enqueued.errors)")
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { $0 !== home })
        try await away.kill9()
        let shown = try await fleet.outcome(["status", "--json"] + redis)
        let status = try #require(try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any], "\(shown.errors)")
        let partitions = try #require(status["partitions"] as? [String: Any])
        let missing = try #require((partitions["away"] as? [[String: Any]])?.first)
        #expect(missing["primary"] as? String == "redis://127.0.0.1:\(away.port ?? 0)")
        #expect([5, 6].contains((missing["partitions"] as? [Int])?.count))
        let ready = try #require((status["jobs"] as? [String: Int])?["ready"])
        #expect(ready > 0 && ready < 60)
        let text = try await fleet.outcome(["status"] + redis).output
        #expect(text.contains("not counted here: Redis at redis://127.0.0.1:\(away.port ?? 0) cannot be reached"), "\(text)")
        try await fleet.stop()
    }

    @Test func `status never says that there is no queue while the servers of its jobs are away or refuse the password`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(files: 1)
        let redis = ["--redis", cluster.url]
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        var found: (node: RedisServer, queue: String)?
        for number in 0..<40 where found == nil {
            let queue = "q\(number)"
            let enqueued = try await fleet.outcome(["enqueue", "http://host\(number).example/", "--queue", queue] + redis)
            #expect(enqueued.status == 0, "\(enqueued.errors)")
            for node in cluster.nodes where node !== home {
                if case .list(let keys) = try await node.command("KEYS", "*q:\(queue):ready:*"), !keys.isEmpty { found = (node, queue) }
            }
        }
        let (away, queue) = try #require(found)
        let status = ["status", "--queue", queue] + redis
        func check(_ sentence: String) async throws {
            let shown = try await fleet.outcome(status)
            #expect(shown.status == 0 && shown.errors == "", "\(shown.errors)")
            #expect(!shown.output.contains("there is no queue") && !shown.output.contains("finished"), "\(shown.output)")
            #expect(shown.output.contains("progress    unknown: a part of Redis is away"), "\(shown.output)")
            #expect(shown.output.contains("not counted here: Redis at redis://127.0.0.1:\(away.port ?? 0) \(sentence)"), "\(shown.output)")
        }
        try await away.ask("CONFIG", "SET", "requirepass", "s3cret")
        try await check("asks for a password")
        away.pause()
        try await check("did not answer")
        away.resume()
        try await away.kill9()
        try await check("cannot be reached")
        try await fleet.stop()
    }

    @Test func `without the server of the first partition a command ends at once, and says what that server has`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        try await home.kill9()
        for words in [["status"], ["workers", "list"], ["batch", "list"], ["explain", "http://h/"]] {
            let outcome = try await fleet.outcome(words + redis)
            #expect(outcome.status == 69 && outcome.output == "", "\(words): \(outcome)")
            #expect(outcome.errors.contains("127.0.0.1:\(home.port ?? 0) cannot be reached"), "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains("partition 0 of the namespace 'gannet'"), "\(words): \(outcome.errors)")
        }
        try await fleet.stop()
    }

    @Test(arguments: [false, true])
    func `a command that needs a server that is away ends soon, and names the server and its partitions`(hangs: Bool) async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { $0 !== home })
        if hangs { away.pause() } else { try await away.kill9() }
        let all = [
            ["jobs", "list", "--state", "ready"], ["jobs", "retry"], ["pause"], ["batch", "list"], ["hosts", "list"], ["doctor"],
        ]
        for words in hangs ? Array(all.prefix(2)) : all {
            let outcome = try await fleet.outcome(words + redis, with: [Times.variable: "answer=4s"])
            #expect(outcome.status == 69, "\(words): \(outcome)")
            // A server that hangs owes the greeting to a new connection, and the answer to a command: either may end first.
            let sentence = "127.0.0.1:\(away.port ?? 0) " + (hangs ? "did not answer " : "cannot be reached")
            #expect(outcome.errors.contains(sentence) && !outcome.errors.contains("for too long"), "\(words): \(outcome.errors)")
            #expect(
                outcome.errors.contains("In this namespace it has partitions ") && outcome.errors.contains(" of 16."), "\(outcome.errors)")
        }
        if hangs { away.resume() }
        try await fleet.stop()
    }

    @Test func `pause, cancel and delete say what they have done while a server is away, and do the rest later`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let urls = (1...200).map { "http://host\($0).example/" }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let redis = ["--redis", cluster.url]
        for batch in ["a", "b"] { #expect(try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", batch] + redis).status == 0) }
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.last { $0 !== home })
        try await away.kill9()
        let delete = ["jobs", "delete", "--state", "ready", "--batch", "b", "--yes"]
        let said = [
            (["pause"], ["The queue is paused but for ", " of its 16 partitions: give the same command again for these."]),
            (["batch", "cancel", "a"], ["The jobs of the batch are cancelled but for ", " of 16 partitions, "]),
            (delete, [" jobs were deleted. Give the same command again for the rest."]),
        ]
        for (words, sentences) in said {
            let outcome = try await fleet.outcome(words + redis)
            #expect(outcome.status == 69 && outcome.errors.contains("it has partitions "), "\(words): \(outcome)")
            #expect(sentences.allSatisfy { outcome.errors.contains($0) }, "\(words): \(outcome.errors)")
        }
        try await away.restart()
        try await eventually("all partitions are counted again") {
            try await fleet.outcome(["status"] + redis).output.contains(" of 16 partitions)")
        }
        for (words, _) in said { #expect(try await fleet.outcome(words + redis).status == 0, "\(words)") }
        let status = try await fleet.outcome(["status"] + redis).output
        #expect(status.contains("(paused)") && status.contains("cancelled   400\n"), "\(status)")
        try await fleet.stop()
    }

    @Test func `a cluster that serves nothing because a part of it is away is said to be so`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        for node in cluster.nodes { try await node.ask("CONFIG", "SET", "cluster-require-full-coverage", "yes") }
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        try await #require(cluster.nodes.first { $0 !== home }).kill9()
        try await eventually("the cluster is down") { try await home.ask("CLUSTER", "INFO").text?.contains("cluster_state:fail") == true }
        let outcome = try await fleet.outcome(["status"] + redis)
        #expect(outcome.status == 69 && outcome.errors.contains("The whole cluster waits for them"), "\(outcome)")
        try await fleet.stop()
    }

    @Test func `the time of 'batch wait' is kept while a server is away`() async throws {
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list, "--batch", "b"] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        try await #require(cluster.nodes.first { $0 !== home }).kill9()
        // Without that it waits a minute for the server, and ends with 69.
        let outcome = try await fleet.outcome(["batch", "wait", "b", "--timeout", "1s"] + redis)
        #expect(outcome.status == 75 && outcome.errors.contains("Redis has not said in time how the batch stands."), "\(outcome)")
        try await fleet.stop()
    }

    @Test func `a batch of which a server has lost a part is not told as done`() async throws {
        let cluster = try await FreshClusters.take()
        let (fleet, _) = try await Fleet.start(.ownCluster, files: 2, hosts: 30)
        let redis = ["--redis", cluster.url]
        let enqueue = ["enqueue", "-i", fleet.list, "--batch", "b"] + redis
        #expect(try await fleet.outcome(enqueue).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        try await #require(cluster.nodes.first { $0 !== home }).ask("FLUSHALL")
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + redis).status == 0)
        let lost = " of the queue know the batch no more."
        let waited = try await fleet.outcome(["batch", "wait", "b"] + redis)
        #expect(waited.status == 69 && waited.errors.contains(lost), "\(waited)")
        let exported = try await fleet.outcome(["export", "--batch", "b", "-d", fleet.out] + redis)
        #expect(exported.status == 69 && exported.errors.contains(lost), "\(exported)")
        let shown = try await fleet.outcome(["batch", "show", "b"] + redis)
        #expect(shown.status == 0 && shown.errors.contains(lost), "\(shown)")
        #expect(try await fleet.outcome(enqueue).status == 0)
        #expect(try await fleet.outcome(["work", "--until-empty"] + fleet.local + redis).status == 0)
        let mended = try await fleet.outcome(["batch", "wait", "b"] + redis)
        #expect(mended.status == 0 && mended.output.contains("60 of 60 URLs done"), "\(mended)")
        try await fleet.stop()
    }

    @Test func `a gateway's paths of queues answer soon while a server is away, and name its partitions`() async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "-i", fleet.list] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { $0 !== home })
        let gateway = try await fleet.gateway(redis: redis)
        try await away.kill9()
        for path in ["/v1/batches", "/v1/hosts"] {
            let answer = try await gateway.ask(path)
            #expect(answer.status == 503 && answer.body.contains("it has partitions "), "\(path): \(answer)")
        }
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test(arguments: [false, true])
    func `enqueue says which server it waits for and for how long, and goes on when the server is back`(isHome: Bool) async throws {
        let cluster = try await FreshClusters.take(appendOnly: true)
        let fleet = try await Fleet.start(.ownCluster, files: 1)
        let urls = (1...60).map { "http://host\($0).example/" }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        let redis = ["--redis", cluster.url]
        #expect(try await fleet.outcome(["enqueue", "http://first.example/"] + redis).status == 0)
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let away = try #require(cluster.nodes.first { ($0 === home) == isHome })
        try await away.kill9()
        let enqueuing = try fleet.start(["enqueue", "-i", fleet.list] + redis)
        let line = try #require(try await enqueuing.errors.line { $0.contains("waiting for Redis") })
        #expect(line.hasPrefix("gannet: waiting for Redis at redis://127.0.0.1:\(away.port ?? 0): cannot be reached"), "\(line)")
        // Without the home partition's server nobody knows how many partitions there are.
        #expect(line.contains("; it has partitions ") != isHome && line.hasSuffix("; this goes on for up to 60 s"), "\(line)")
        try await away.restart()
        #expect(try await enqueuing.exitStatus == .exited(0), "\(enqueuing.errors.text)")
        #expect(enqueuing.output.text.hasPrefix("Accepted 60 URLs"), "\(enqueuing.output.text)")
        #expect(enqueuing.errors.lines.count { $0.contains("waiting for Redis") } == 1, "\(enqueuing.errors.text)")
        try await fleet.stop()
    }

    @Test func `jobs that no replica confirms are reported, and the same command adds none`() async throws {
        let fleet = try await Fleet.start(files: 3)
        let words = ["enqueue", "-i", fleet.list, "--durability", "replicated"] + fleet.connection
        let first = try await fleet.outcome(words + ["--batch", "b"])
        let sentence = /no replica (of redis:\/\/127\.0\.0\.1:[0-9]+ )?has confirmed them within 1 seconds/
        #expect(first.status == 75 && first.errors.contains(sentence), "\(first.errors)")
        let again = try await fleet.outcome(words + ["--batch", "b"])
        #expect(again.status == 75 && again.errors.contains("3 URLs had been accepted before"), "\(again.errors)")
        let told = try await fleet.json(Array(words.prefix(5)) + ["--batch", "b"], status: 75)
        #expect(told["accepted"] as? Int == 3 && told["confirmed"] as? Bool == false && told["batch"] as? String == "b", "\(told)")
        #expect(try await fleet.outcome(["status"] + fleet.connection).output.contains(fleet.row("enqueued", "3\n")))
        try await fleet.stop()
    }
}
