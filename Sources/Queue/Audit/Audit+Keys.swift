internal import GannetBase
internal import GannetRedisClient

/// Goes through the keys of a partition: each has to be of its type, and names what is looked at more closely.
extension Audit {
    /// The types of keys, by the beginnings of their names.
    private static let types = [
        "holder": "hash", "outcome": "string", "queue": "hash", "batches": "zset", "batch": "hash", "finished": "list", "ready": "list",
        "timers": "zset", "followers": "list",
        "aside": "list", "delayed": "list", "dead": "zset", "idle": "zset",
    ]

    /// The keys of the whole partition.
    private static let mainTypes = [("state", "hash"), ("hosts", "hash"), ("locks", "hash"), ("leases", "zset")]

    /// A key of the partition: its queue, which is empty for none, the beginning of its name, and the rest of that.
    struct Key {
        let queue: String
        let kind: String
        let rest: [UInt8]

        init(_ name: [UInt8]) {
            var (own, queue) = (name[...], "")
            if name.starts(with: "q:".utf8), let end = name.dropFirst(2).firstIndex(of: UInt8(ascii: ":")) {
                queue = String(decoding: name[2..<end], as: UTF8.self)
                own = name[(end + 1)...]
            }
            let kind = own.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
            self.queue = queue
            self.kind = String(decoding: kind, as: UTF8.self)
            rest = Array(own.dropFirst(kind.count + 1))
        }
    }

    /// Answers whether the keys to which all others lead can be read.
    mutating func lookAtMainKeys(in partition: Partition) async throws -> Bool {
        let types = try await state.answers(to: Self.mainTypes.map { RedisCommand("TYPE", .string(partition.keys.tag + $0.0)) })
        var isGood = true
        for ((name, expected), type) in zip(Self.mainTypes, types) where !["none", expected].contains(try type.asString()) {
            add(.wrongType, "'\(partition.keys.tag)\(name)', which has to be a \(expected)")
            isGood = false
        }
        return isGood
    }

    /// Answers the queues that it met.
    mutating func lookAtKeys(in partition: Partition) async throws -> Set<String> {
        var queues: Set<String> = []
        try await scanKeys(of: partition) { names in
            let types = try await state.answers(to: names.map { RedisCommand("TYPE", .bytes(Array(partition.keys.tag.utf8) + $0)) })
            var known: [Key] = []
            for (name, type) in zip(names, types) {
                let (key, found) = (Key(name), try type.asString())
                if !key.queue.isEmpty, key.kind == "queue" || key.kind == "batches" { queues.insert(key.queue) }
                guard let expected = Self.types[key.kind], found != "none" else { continue }
                if found == expected {
                    known.append(key)
                } else {
                    add(
                        .wrongType,
                        "'\(partition.keys.tag)\(String(decoding: name, as: UTF8.self).shown(standIn: "?"))', which has to be a \(expected)"
                    )
                }
            }
            for key in known where key.kind == "holder" { try await check(holder: key.rest, in: partition) }
            // Behind the name of a long list stand those of its parts.
            let lists = known.filter {
                !$0.queue.isEmpty && ($0.kind == "followers" ? $0.rest.count == URLID.count : !$0.rest.contains(UInt8(ascii: "#")))
            }
            try await check(followers: lists.filter { $0.kind == "followers" }, in: partition)
            try await check(waiting: lists.filter { $0.kind == "aside" || $0.kind == "delayed" }, in: partition)
        }
        return queues
    }
}
