internal import GannetRedisClient

/// A long list as it lay in Redis at one look: its parts in their order. `Scripts/Parts/lists.lua` tells how they come and go.
struct LongList: Sendable {
    struct Part: Sendable {
        let key: RedisArgument
        let length: Int
    }

    let parts: [Part]

    var length: Int { parts.reduce(0) { $0 + $1.length } }

    /// The commands that read these elements, a part after the other.
    func reading(_ elements: Range<Int>) -> [RedisCommand] {
        var commands: [RedisCommand] = []
        var start = 0
        for part in parts {
            let own = elements.clamped(to: start..<start + part.length)
            if !own.isEmpty {
                commands.append(RedisCommand("LRANGE", part.key, .integer(own.lowerBound - start), .integer(own.upperBound - start - 1)))
            }
            start += part.length
        }
        return commands
    }

    /// The key with the numbers of a list's parts, its first left out.
    static func names(of list: RedisArgument) -> RedisArgument { .bytes(list.contents + "#".utf8) }
}

extension ClusterState {
    /// Looks at lists of one partition or of several, none of which is read.
    func look(at lists: [RedisArgument]) async throws -> [LongList] {
        let names = await connection.pipeline(lists.map { RedisCommand("LRANGE", LongList.names(of: $0), 0, -1) })
        let keys = try zip(lists, names).map { list, names in
            let numbers = try names.get().asArray().map { try $0.asBytes() }
            return [list] + numbers.map { .bytes(LongList.names(of: list).contents + $0) }
        }
        var lengths = await connection.pipeline(keys.joined().map { RedisCommand("LLEN", $0) })[...]
        return try keys.map { keys in
            LongList(parts: try keys.map { LongList.Part(key: $0, length: try lengths.removeFirst().get().asInteger()) })
        }
    }
}

extension RedisArgument {
    fileprivate var contents: [UInt8] {
        switch self {
        case .string(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .integer(let number): Array("\(number)".utf8)
        }
    }
}
