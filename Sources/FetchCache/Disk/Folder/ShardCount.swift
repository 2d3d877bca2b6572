/// What was found in a shard.
struct ShardCount: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0
    var cold = ColdFiles()
}
