import Foundation
import GannetTestKit
import Testing

/// The ACL user of Docs/REDIS.md.
@Suite(.timeLimit(.minutes(3))) struct PermissionTests {
    @Test func `the documented user may do everything, and has hardly a right too many`() async throws {
        let user = try DocumentedUser()
        let fleet = try await Fleet.start(.rights, files: 12)
        try await user.make(in: fleet)
        let used = try await fleet.redis.statistics { try await goThroughEverything(fleet, as: user) }
        // Denied is what the log of refusals has, whoever swallowed it.
        #expect(try await fleet.redis.command("ACL", "LOG") == .list([]))
        let unused = Set(user.commands.flatMap { $0 }).subtracting(used.commands.keys)
        // LPOS looks for drift of a rare kind, SREM is for the export of a part of a batch, and INFO brings these figures.
        #expect(unused.subtracting(["lpos", "info", "srem"]).isEmpty, "\(unused)")
        try await fleet.stop()
    }

    @Test func `the error about a missing right that all commands need names it, before anything is written`() async throws {
        let user = try DocumentedUser()
        let fleet = try await Fleet.start(.rights, files: 1)
        try await user.make(in: fleet)
        let connection = user.connection(to: fleet)
        #expect(try await fleet.outcome(["status"] + connection).status == 0)
        // Needed by some alone, or done without.
        let others = Set(["info", "ping", "select", "subscribe", "unsubscribe"] + user.commands.suffix(2).flatMap { $0 })
        let commands = user.commands.flatMap { $0 }.filter { !others.contains($0) }
        #expect(commands.count >= 35)
        for command in commands {
            try await user.forbid(command, in: fleet)
            if command == "eval" { try await fleet.redis.command("SCRIPT", "FLUSH") }
            let outcome = try await fleet.outcome(["enqueue", "http://h/"] + connection)
            #expect(outcome.status == 69 && outcome.output == "", "\(command): \(outcome)")
            #expect(outcome.errors.contains("(its ACL rule lacks +\(command))"), "\(command): \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(command): \(outcome.errors)")
            try await user.permit(command, in: fleet)
        }
        #expect(try await fleet.queueKeys() == .list([]))

        try await user.set(["-hset", "-zadd"], in: fleet)
        #expect(try await fleet.outcome(["status"] + connection).errors.contains("lacks +hset +zadd)"))
        try await user.set(["+hset", "+zadd", "resetchannels"], in: fleet)
        #expect(try await fleet.outcome(["status"] + connection).errors.contains("lacks &{gannet}*)"))
        try await user.set(["resetkeys"], in: fleet)
        #expect(try await fleet.outcome(["status"] + connection).errors.contains("lacks ~{gannet}*)"))
        try await fleet.stop()
    }

    @Test func `the error about a missing right names the keys of all partitions, where there are several`() async throws {
        let user = try DocumentedUser()
        let fleet = try await Fleet.start(.rights, files: 1)
        try await user.make(in: fleet)
        let words = ["enqueue", "http://h/", "--partitions", "4"] + user.connection(to: fleet)
        let outcome = try await fleet.outcome(words)
        #expect(outcome.status == 69 && outcome.errors.contains("(its ACL rule lacks ~{gannet:*}*)"), "\(outcome)")
        try await user.set(["resetkeys"], in: fleet)
        let none = try await fleet.outcome(words)
        #expect(none.status == 69 && none.errors.contains("(its ACL rule lacks ~{gannet}* ~{gannet:*}*)"), "\(none)")
        try await user.set(["~{gannet}*", "~{gannet:*}*"], in: fleet)
        #expect(try await fleet.outcome(words).status == 0)
        try await fleet.stop()
    }

    @Test func `the error about a missing right on a cluster names the channels of all partitions`() async throws {
        let user = try DocumentedUser()
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(files: 1)
        let rights = ["~{gannet:*}*", "+cluster|shards", "+asking", "+ssubscribe", "+sunsubscribe", "+spublish"]
        for node in cluster.nodes {
            let answer = try await node.command(["ACL", "SETUSER", "gannet"] + user.rule + rights)
            #expect(answer == .text("OK"), "\(answer)")
        }
        try fleet.folder.write(Array("secret\n".utf8), to: "password")
        let address = cluster.url.replacing("redis://", with: "redis://gannet@")
        let words = ["enqueue", "http://h/", "--redis", address, "--redis-password-file", fleet.folder.file("password")]
        let outcome = try await fleet.outcome(words)
        #expect(outcome.status == 69 && outcome.errors.contains("(its ACL rule lacks &{gannet:*}*)"), "\(outcome)")
        for node in cluster.nodes { try await node.ask("ACL", "SETUSER", "gannet", "&{gannet:*}*") }
        let permitted = try await fleet.outcome(words)
        #expect(permitted.status == 0, "\(permitted)")
        for node in cluster.nodes { try await node.ask("ACL", "SETUSER", "gannet", "-cluster|shards") }
        let without = try await fleet.outcome(words)
        #expect(without.status == 69 && without.errors.contains("cluster|shards") && !without.errors.contains("|slots"), "\(without)")
        try await fleet.stop()
    }

    @Test(arguments: ["+zadd", "+asking", "+rpush"])
    func `a right that is missing at one server of a cluster is told before anything is written`(right: String) async throws {
        let user = try DocumentedUser()
        let cluster = try await FreshClusters.take()
        let fleet = try await Fleet.start(files: 1)
        let rights = [
            "~{gannet:*}*", "&{gannet:*}*", "+cluster|shards", "+asking", "+ssubscribe", "+sunsubscribe", "+spublish",
        ]
        let home = try await cluster.owner(of: cluster.slot(of: "{gannet}"))
        let other = try #require(cluster.nodes.first { $0 !== home })
        for node in cluster.nodes { try await node.command(["ACL", "SETUSER", "gannet"] + user.rule + rights) }
        try await other.ask("ACL", "SETUSER", "gannet", "-" + right.dropFirst())
        try fleet.folder.write(Array("secret\n".utf8), to: "password")
        let connection = [
            "--redis", cluster.url.replacing("redis://", with: "redis://gannet@"), "--redis-password-file", fleet.folder.file("password"),
        ]
        for words in [["enqueue", "http://h/"], ["work", "--until-empty"]] {
            let outcome = try await fleet.outcome(words + connection)
            #expect(outcome.status == 69 && outcome.errors.contains("(its ACL rule lacks \(right))"), "\(outcome)")
            #expect(outcome.errors.contains("127.0.0.1:\(other.port ?? 0) "), "\(outcome)")
        }
        let list = try await fleet.outcome(["batch", "list"] + connection)
        #expect(list.status == 0 && list.output == "", "\(list)")
        #expect(try await other.command("DBSIZE") == .integer(0))
        try await other.ask("ACL", "SETUSER", "gannet", right)
        #expect(try await fleet.outcome(["enqueue", "http://h/"] + connection).status == 0)
        try await fleet.stop()
    }

    @Test func `a producer that may not wait for replicas hears of it before anything is accepted`() async throws {
        let user = try DocumentedUser()
        let fleet = try await Fleet.start(.rights, files: 1)
        try await user.make(in: fleet)
        let words = ["enqueue", "http://h/", "--durability", "replicated"] + user.connection(to: fleet)
        let outcome = try await fleet.outcome(words)
        #expect(outcome.status == 69 && outcome.errors.contains("(its ACL rule lacks +wait)"), "\(outcome)")
        #expect(try await fleet.queueKeys() == .list([]))
        try await user.permit("wait", in: fleet)
        // There is no replica, and the jobs are accepted.
        #expect(try await fleet.outcome(words).status == 75)
        #expect(try await fleet.queueKeys() != .list([]))
        try await fleet.stop()
    }

    @Test(arguments: [
        ("strlen", ["work", "--until-empty", "--allow-net", "127.0.0.0/8"]), ("subscribe", ["work", "--until-empty"]),
        ("hkeys", ["doctor"]),
        ("scan", ["doctor"]), ("type", ["doctor"]), ("zscan", ["jobs", "delete", "--state", "delayed", "--yes"]),
        ("select", ["status"]),
    ])
    func `the error about a missing right that one command needs names it`(right: String, words: [String]) async throws {
        let user = try DocumentedUser()
        let fleet = try await Fleet.start(.rights, files: 5)
        try await user.make(in: fleet)
        if words.first == "work" {
            // A body to keep.
            #expect(try await fleet.outcome(["enqueue"] + fleet.origin.urls + user.connection(to: fleet)).status == 0)
        } else {
            let list = try fleet.list("some", 0..<50)
            #expect(try await fleet.outcome(["enqueue", "-i", list] + user.connection(to: fleet)).status == 0)
        }
        try await user.forbid(right, in: fleet)
        let connection = user.connection(to: fleet, database: right == "select" ? 1 : 0)
        let outcome = try await fleet.outcome(words + connection)
        #expect(outcome.status == 69, "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count { $0.contains("lacks +\(right))") } == 1, "\(outcome)")
        try await fleet.stop()
    }

    private func goThroughEverything(_ fleet: Fleet, as user: DocumentedUser) async throws {
        let connection = user.connection(to: fleet)
        func step(_ words: String..., status: Int32 = 0, _ location: SourceLocation = #_sourceLocation) async throws {
            let outcome = try await fleet.outcome(words + connection)
            #expect(outcome.status == status, "\(words): \(outcome)", sourceLocation: location)
        }
        func work(_ words: String..., at location: SourceLocation = #_sourceLocation) async throws {
            let outcome = try await fleet.outcome(["work", "--until-empty"] + words + fleet.local + connection)
            #expect(outcome.status == 0, "\(outcome)", sourceLocation: location)
        }
        let missing = fleet.origin.url("/missing")
        let many = try fleet.list("many", 0..<3000)

        // A folder; URLs that are listed twice, and one that fails.
        try await step("enqueue", "-i", fleet.list, "--batch", "a", missing, fleet.origin.urls[0])
        try await step("enqueue", "--header", "X-Key: 1", "--delay", "10ms", "--priority", "high", fleet.origin.urls[1])
        try await step("status")
        try await step("jobs", "list")
        try await work("--store", fleet.out)
        try await step("batch", "list")
        try await step("batch", "show", "a")
        try await step("batch", "wait", "a", status: 1)
        try await step("jobs", "list", "--state", "dead")
        try await step("jobs", "retry", "--class", "http-404")
        try await work("--store", fleet.out)
        try await step("jobs", "delete", "--state", "dead", "--yes")

        // Bodies in Redis.
        try await step("enqueue", "-i", fleet.list, "--batch", "b", "--refresh")
        try await work()
        try await step("get", fleet.origin.urls[2], "-o", fleet.folder.file("body"))
        try await step("get", missing, "--fetch", "--allow-net", "127.0.0.0/8", status: 1)
        try await step("explain", fleet.origin.urls[2])
        try await step("explain", "0000000", status: 64)
        try await step("export", "--batch", "b", "-d", fleet.folder.file("exported"))

        // Looking after hosts and a queue.
        try await step("hosts", "set", "h", "--limit", "1")
        try await step("hosts", "list")
        try await step("hosts", "clear", "h")
        try await step("enqueue", "-i", fleet.list, "--batch", "c", "--refresh")
        try await step("batch", "cancel", "c")
        try await step("pause")
        try await step("resume")
        try await step("enqueue", "-i", fleet.list, "--delay", "1h", "--refresh")
        try await step("jobs", "retry", "--state", "delayed", "--limit", "5")
        try await step("jobs", "delete", "--state", "delayed", "--yes")
        try await step("enqueue", "-i", many)
        try await step("jobs", "delete", "--state", "ready", "--limit", "1200", "--yes")
        _ = try await fleet.redis.command("LTRIM", "{gannet}q:default:ready:normal", "0", "-3")
        try await step("doctor", "--fix", "--yes")
        try await step("purge", "--yes")
        let run = try await fleet.outcome(["run", "-i", fleet.list, "-d", fleet.folder.file("run")] + fleet.local + connection)
        #expect(run.status == 0, "\(run)")
        let elsewhere = try await fleet.outcome(["status"] + user.connection(to: fleet, database: 1))
        #expect(elsewhere.status == 0, "\(elsewhere)")

        try await wait(fleet, connection)
    }

    /// Two who want one URL at a time, and a worker that is woken.
    private func wait(_ fleet: Fleet, _ connection: [String]) async throws {
        let server = try HostileServer(scripts: [
            [
                .readUntil("\r\n\r\n"), .pause(.milliseconds(500)),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"), .close,
            ]
        ])
        let get = ["get", "http://127.0.0.1:\(server.port)/", "--fetch"] + fleet.local + connection
        async let first = fleet.outcome(get)
        try await server.accepted(1)
        let second = try await fleet.outcome(get)
        #expect(try await first.status == 0 && second.status == 0, "\(second)")

        let watch = try await fleet.redis.watch()
        let worker = try fleet.start(["work", "--verbose"] + fleet.local + connection)
        try await watch.saw("\"ZADD\" \"{gannet}q:default:idle\"")
        let woken = try await fleet.outcome(["enqueue", "--wait", "--refresh", fleet.origin.urls[3]] + connection)
        #expect(woken.status == 0, "\(woken)")
        worker.terminate()
        #expect(try await worker.exitStatus == .exited(0))
    }
}
