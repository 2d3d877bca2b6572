package import GannetRedisClient

/// How many jobs of a queue have failed, by the class of their failures. Jobs that were tried again count no more.
package struct FailureCounts: Sendable, Equatable {
    /// The class, such as `timeout` or `http-404`, and the number of jobs. The class of a failure without one is empty.
    package private(set) var byClass: [String: Int] = [:]

    /// The class of jobs that their sites did not permit.
    package static let disallowed = "disallowed"

    private static let mark = "failed:"
    private static let longest = 32
}

extension FailureCounts {
    /// The counter of a class in the queue's hash. `Scripts/Exchange/ends.lua` counts in the same.
    static func field(of errorClass: String?) -> String {
        mark + (isWord(errorClass ?? "") ? String(errorClass?.prefix(longest) ?? "") : "")
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "-") }
    }

    /// Names that no script has written are passed over: they could steer a terminal.
    /// - Parameter fields: The names and the values of a queue's hash.
    package init(_ fields: [RedisReply]) throws(RedisError) {
        for (name, value) in fields.pairs {
            let name = try name.asString()
            guard name.hasPrefix(Self.mark), let count = Int(inRedis: try value.asString()), count > 0 else { continue }
            let errorClass = name.dropFirst(Self.mark.count)
            if Self.isWord(errorClass) { byClass[String(errorClass)] = count }
        }
    }

    /// How many of the failed jobs their sites did not permit.
    package var notPermitted: Int { byClass[Self.disallowed] ?? 0 }

    /// The most frequent class first.
    package var sorted: [(errorClass: String, count: Int)] {
        byClass.map { (errorClass: $0.key, count: $0.value) }.sorted { ($0.count, $1.errorClass) > ($1.count, $0.errorClass) }
    }

    /// Adds another partition's part of the queue.
    mutating func add(_ other: FailureCounts) { byClass.merge(other.byClass, uniquingKeysWith: +) }
}
