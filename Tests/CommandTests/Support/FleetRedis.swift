import Foundation
import GannetBase
import GannetTestKit
import Testing

/// Why a test keeps one redis-server where `GANNET_TEST_CLUSTER` gives other tests a cluster.
enum OneServer: String, Sendable, CaseIterable {
    case setUp = "The test sets the server up: its memory, its disk, its clock or its password."
    case stopped = "The test stops or restarts the server."
    case keys = "The test reads or writes keys by their names, which lie elsewhere in a namespace with several partitions."
    case partitions = "The test is about the number of partitions on one server."
    case counts = "The test counts the commands of one server."
    case rights = "The test is about the rights of a user of one server."
    case ownCluster = "The test starts a cluster of its own."
}

/// The Redis of a fleet: one redis-server, or a Redis Cluster with as many primaries as the variable `GANNET_TEST_CLUSTER` says.
///
/// It comes from the pool of all tests, unless the test sets a server up or stops it.
enum FleetRedis: Sendable {
    case server(RedisServer, isShared: Bool)
    case cluster(RedisCluster)

    /// The primaries of the clusters that tests use; `nil` where all tests use one server.
    static let primaries = ProcessInfo.processInfo.environment["GANNET_TEST_CLUSTER"].flatMap { Int($0) }

    static func start(_ reason: OneServer?, _ change: ((inout RedisServer.Options) -> Void)? = nil) async throws -> FleetRedis {
        if let primaries {
            FleetCount.note(reason)
            if reason == nil { return .cluster(try await RedisPool.shared.takeCluster(primaries: primaries)) }
        }
        if change == nil, reason != .setUp, reason != .stopped { return .server(try await RedisPool.shared.take(), isShared: true) }
        return .server(try await RedisServer.start(.init(change ?? { _ in })), isShared: false)
    }

    func stop() async throws {
        switch self {
        case .server(let server, isShared: true): await RedisPool.shared.giveBack(server)
        case .server(let server, isShared: false): try await server.stop()
        case .cluster(let cluster): await RedisPool.shared.giveBack(cluster)
        }
    }

    var address: String {
        switch self {
        case .server(let server, _): "unix://\(server.socketPath)"
        case .cluster(let cluster): cluster.url
        }
    }

    /// Each of them has a part of the keys.
    var nodes: [RedisServer] {
        switch self {
        case .server(let server, _): [server]
        case .cluster(let cluster): cluster.nodes
        }
    }
}

/// The tests that have begun, by their Redis. The process prints these counts when it ends.
private enum FleetCount {
    private struct Tests: Sendable {
        var onCluster: Set<String> = []
        var onServer: [OneServer: Set<String>] = [:]
    }

    private static let tests = Monitor(Tests())

    static func note(_ reason: OneServer?) {
        let test = Test.current.map { "\($0.id)" } ?? "outside a test"
        let isFirst = tests.update { tests in
            let isFirst = tests.onCluster.isEmpty && tests.onServer.isEmpty
            if let reason { tests.onServer[reason, default: []].insert(test) } else { tests.onCluster.insert(test) }
            return isFirst
        }
        if isFirst { atexit { FleetCount.printSummary() } }
    }

    private static func printSummary() {
        let tests = tests.update { $0 }
        let servers = tests.onServer.values.reduce(into: Set<String>()) { $0.formUnion($1) }.subtracting(tests.onCluster)
        var lines = ["Fleets: \(tests.onCluster.count) tests on a Redis Cluster, \(servers.count) on one redis-server."]
        for reason in OneServer.allCases {
            guard let own = tests.onServer[reason] else { continue }
            lines.append("  \(own.count): \(reason.rawValue)")
        }
        _ = Descriptor.writeAll(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }
}

/// Sees the commands of each server of a fleet.
struct FleetWatch: Sendable {
    fileprivate let watches: [RedisWatch]

    /// Returns when one of the servers has carried out a command in which all of these texts are.
    func saw(_ texts: String...) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for watch in watches { group.addTask { try await watch.saw(texts) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension Fleet {
    /// The one server of a test that says so by ``OneServer``, or of all tests where none has a cluster.
    var redis: RedisServer {
        get throws {
            guard case .server(let server, _) = store else {
                throw KitError("this test asks its one redis-server, and its fleet is a cluster: give Fleet.start a OneServer")
            }
            return server
        }
    }

    /// Watches what the servers are asked from now on.
    func watch() async throws -> FleetWatch {
        var watches: [RedisWatch] = []
        for node in store.nodes { watches.append(try await node.watch()) }
        return FleetWatch(watches: watches)
    }

    /// Removes all keys, as if Redis had lost them.
    func loseKeys() async throws {
        for node in store.nodes { try await node.ask("FLUSHALL") }
    }

    /// The names of keys, in all partitions. A pattern names those of the first partition, as `{gannet}q:*`.
    func keys(_ pattern: String) async throws -> [String] {
        var keys: [String] = []
        for node in store.nodes {
            guard case .list(let found) = try await node.ask("KEYS", everywhere(pattern)) else { throw KitError("no list of keys") }
            keys += found.compactMap(\.text)
        }
        return keys
    }

    /// The answers to a command about a key of each partition that has it.
    func answers(of key: String, _ command: String, _ words: String...) async throws -> [RedisAnswer] {
        var answers: [RedisAnswer] = []
        for node in store.nodes {
            guard case .list(let found) = try await node.ask("KEYS", everywhere(key)) else { continue }
            for name in found.compactMap(\.text) { answers.append(try await node.command([command, name] + words)) }
        }
        return answers
    }

    /// A row of `status`. A cluster's label `partitions` makes the column of labels wider.
    func row(_ label: String, _ value: String) -> String {
        let width = if case .cluster = store { 12 } else { 10 }
        return label + String(repeating: " ", count: width - label.count) + value
    }

    /// The same pattern for all partitions. Their tags begin alike.
    func everywhere(_ pattern: String) -> String {
        if case .server = store { return pattern }
        return pattern.replacing("{gannet}", with: "{gannet*}").replacing("{gannet:blob}", with: "{gannet:blob*}")
    }
}
