import GannetRedisClient
import GannetTestKit

// `Scripts/bench redis`: our client beside `redis-benchmark`, on one Unix socket of a server of their own, in turn, so that
// a machine whose speed drifts drifts for both. Prints a table in Markdown; Docs/REDIS-CLIENT.md holds one.

let rounds = 5
let server = try await RedisServer.start()
let ours = try await ClientUnderTest(socketPath: server.socketPath)
let peer = RedisBenchmarkTool(socketPath: server.socketPath)

print("redis-server \(server.version), Unix socket; medians of \(rounds) rounds, both in each round\n")
print("| work | gannet | CPU each | redis-benchmark | CPU each | ratio |")
print("| --- | --- | --- | --- | --- | --- |")

for (callers, count) in [(1, 20_000), (64, 400_000), (512, 800_000)] {
    // This many callers work at a time, and each waits for its reply before it goes on. redis-benchmark gives each a connection.
    try await compare("SET, \(callers) caller\(callers == 1 ? "" : "s")", rounds: rounds) {
        try await ours.set(callers: callers, count: count)
    } against: {
        try await peer.set(connections: callers, pipeline: 1, count: min(count, 200_000))
    }
}
// The limit of one connection, if its callers do nothing else.
try await compare("SET, 1 connection, 512 in flight", rounds: rounds) {
    try await ours.set(callers: 512, count: 800_000)
} against: {
    try await peer.set(connections: 1, pipeline: 512, count: 2_000_000)
}
try await compare("SET of 10 MB, 1 caller", rounds: rounds) {
    try await ours.setLarge(bytes: 10_000_000, count: 40)
} against: {
    try await peer.set(connections: 1, pipeline: 1, count: 40, bytes: 10_000_000)
}
await ours.close()
try await server.stop()
