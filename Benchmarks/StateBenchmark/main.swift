import ClusterState
import GannetTestKit
import RedisClient

let server = try await RedisServer.start()
let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: server.socketPath)))
let state = ClusterState(redis, namespace: "gannet")
let queue = state.queue("q")

func id(_ n: Int) -> URLID {
    var b = [UInt8](repeating: 0, count: 16)
    var g = SystemRandomNumberGenerator()
    withUnsafeBytes(of: n.bigEndian) { b.replaceSubrange(0..<8, with: $0) }
    withUnsafeBytes(of: g.next()) { b.replaceSubrange(8..<16, with: $0) }
    return URLID(b)!
}
func entry(_ n: Int, hosts: Int) throws -> JobEntry {
    let d = String(n)
    let h = "h\(String(repeating: "0", count: 6 - String(n % hosts).count))\(n % hosts).example"
    let path = String(repeating: "0", count: 56 - 7 - h.count - 1 - d.count) + d
    return try JobEntry(id: id(n), host: h, url: "http://\(h)/\(path)")
}
func memory() async throws -> Int {
    let info = try await redis.send(RedisCommand("INFO", "memory")).asString()
    return Int(info.split(separator: "\r\n").first { $0.hasPrefix("used_memory:") }!.dropFirst(12))!
}
for hosts in [1, 100_000] {
    try await redis.send(RedisCommand("FLUSHALL"))
    let total = 100_000
    let entries = try (0..<total).map { try entry($0, hosts: hosts) }
    let empty = try await memory()
    let batch = try await queue.begin(batch: "b").number
    var start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { _ in
        for chunk in stride(from: 0, to: total, by: 1000) {
            _ = try await queue.enqueue(
                Array(entries[chunk..<chunk + 1000]), batch: batch, from: chunk, to: chunk + 1000, closing: chunk + 1000 == total)
        }
    }
    print("hosts", hosts, "enqueue/s", Int(Double(total) / ((ContinuousClock.now - start) / .seconds(1))))
    let waiting = try await memory() - empty
    print("  bytes per waiting", Double(waiting) / Double(total))
    var done = 0
    for size in [1, 16, 64] {
        start = .now
        let n = size == 1 ? 5_000 : 40_000
        let c = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var c = 0
                    while c < n / 8 {
                        var request = ClaimRequest(
                            size, lease: .seconds(30), nonce: Nonce(.random(in: .min ... .max)), worker: "w\(worker)")
                        request.host = HostRule(limit: 1000)
                        let answer = try await queue.claim(request)
                        if answer.jobs.isEmpty { break }
                        c += answer.jobs.count
                        _ = try await queue.settle(
                            answer.jobs.map { job in
                                var page = PageContent(url: job.entry.url)
                                page.digest = [UInt8](repeating: 7, count: 32)
                                page.status = 200
                                page.size = 10_000
                                return Settlement(
                                    job.token, job.entry.id, .fetched(page, Retention(fresh: .seconds(3600), keep: .seconds(86400))),
                                    host: .answered, bytes: 10000)
                            }, random: 0.5)
                    }
                    return c
                }
            }
            var all = 0
            for try await x in group { all += x }
            return all
        }
        done += c
        print("  batch", size, "claim+finish/s", Int(Double(c) / ((ContinuousClock.now - start) / .seconds(1))))
    }
    while true {
        var request = ClaimRequest(64, lease: .seconds(30), nonce: Nonce(.random(in: .min ... .max)), worker: "w")
        request.host = HostRule(limit: 1000)
        let answer = try await queue.claim(request)
        if answer.jobs.isEmpty { break }
        done += answer.jobs.count
        _ = try await queue.settle(
            answer.jobs.map { job in
                var page = PageContent(url: job.entry.url)
                page.digest = [UInt8](repeating: 7, count: 32)
                page.status = 200
                page.size = 10_000
                return Settlement(
                    job.token, job.entry.id, .fetched(page, Retention(fresh: .seconds(3600), keep: .seconds(86400))), host: .answered,
                    bytes: 10000)
            }, random: 0.5)
    }
    let finished = try await memory() - empty
    print("  done", done, "bytes per finished", Double(finished) / Double(done))
    print(try await queue.counts())
    print(try await redis.send(RedisCommand("KEYS", "{gannet}[^p]*")).asArray().count)
}
print(
    try await redis.send(RedisCommand("INFO", "commandstats")).asString().split(separator: "\r\n").map { $0.prefix(90) }.joined(
        separator: "\n"))
await redis.close()
try await server.stop()
