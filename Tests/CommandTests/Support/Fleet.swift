import Foundation
import GannetBase
import GannetTestKit
import Testing

/// A list of URLs at a real origin, a Redis of its own, a folder for bodies, and the real binary.
///
/// With the variable `GANNET_TEST_CLUSTER` the Redis is a cluster, unless the test names a reason for one server.
struct Fleet: Sendable {
    let origin: Origin
    let store: FleetRedis
    let folder: TemporaryFolder
    let program: Program
    private let started = StartedProcesses()

    static func start(
        _ reason: OneServer? = nil, files: Int = 60, redis change: ((inout RedisServer.Options) -> Void)? = nil
    ) async throws -> Fleet {
        try await start(reason, redis: change) {
            $0.fileCount = files
            $0.largestFile = 20_000
        }
    }

    static func start(
        _ reason: OneServer? = nil, redis change: ((inout RedisServer.Options) -> Void)? = nil,
        origin options: (inout Origin.Options) -> Void
    ) async throws -> Fleet {
        let origin = try await OriginPool.shared.take(.init(options))
        let folder = try TemporaryFolder()
        try folder.write(Array(origin.urls.joined(separator: "\n").utf8), to: "urls.txt")
        return Fleet(
            origin: origin, store: try await FleetRedis.start(reason, change), folder: folder, program: Program(home: "/dev/null/none"))
    }

    /// The same files at several addresses, which are as many hosts. The list has all URLs.
    static func start(_ reason: OneServer? = nil, files: Int, hosts: Int) async throws -> (fleet: Fleet, urls: [String]) {
        let addresses = (1...hosts).map { "127.0.0.\($0)" }
        let fleet = try await start(reason) {
            $0.fileCount = files
            $0.largestFile = 2000
            $0.addresses = addresses
        }
        let urls = addresses.flatMap { host in fleet.origin.files.map { "http://\(host):\(fleet.origin.port)\($0.path)" } }
        try fleet.folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        return (fleet, urls)
    }

    /// The same with an empty Redis, for one that is gone.
    func withAnotherRedis() async throws -> Fleet {
        Fleet(origin: origin, store: .server(try await RedisServer.start(), isShared: false), folder: folder, program: program)
    }

    func stop() async throws {
        // A process that is left would go on in the Redis of the next test.
        try await started.end()
        try await store.stop()
        await OriginPool.shared.giveBack(origin)
    }

    var list: String { folder.file("urls.txt") }
    var out: String { folder.file("out") }
    var address: String { store.address }
    var connection: [String] { ["--redis", address] }
    /// The host of the origin's URLs.
    var host: String { "127.0.0.1:\(origin.port)" }
    var local: [String] { ["--allow-net", "127.0.0.0/8"] }

    /// `run` on the list.
    var run: [String] { ["run", "-i", list, "-d", out] + local + connection }
    var work: [String] { ["work", "--store", out, "--until-empty"] + local + connection }

    /// Runs a command in the test process, as ``Program/run(_:with:input:output:)`` says.
    func outcome(
        _ words: [String], with more: [String: String?] = [:], input: String = "/dev/null", output: Program.Output = .collected
    ) async throws -> Program.Outcome {
        try await program.run(words, with: more, input: input, output: output)
    }

    /// Runs a command as a process, for a test of what only a process has.
    func process(_ words: [String]) async throws -> Program.Outcome { try await program.process(words) }

    func outcome(script: String, _ words: [String] = []) async throws -> Program.Outcome { try await program.run(script: script, words) }

    /// Starts a script of the shell, to which the program is `$0`, and leaves it running.
    func start(script: String, _ words: [String]) throws -> ChildProcess {
        try start(ChildProcess.Options("/bin/sh", ["-c", script, Program.path] + words, environment: program.environment))
    }

    /// Starts the program and leaves it running.
    func start(_ words: [String], with more: [String: String] = [:], input: String? = nil) throws -> ChildProcess {
        let environment = program.environment.merging(more) { $1 }
        return try start(ChildProcess.Options(Program.path, words, environment: environment, input: input))
    }

    private func start(_ options: ChildProcess.Options) throws -> ChildProcess {
        let child = try ChildProcess(options)
        started.note(child)
        return child
    }

    /// Starts a program that tells of every body, and returns once it has told of `count`.
    func start(_ words: [String], untilFetched count: Int, with more: [String: String] = [:]) async throws -> ChildProcess {
        let child = try start(words + ["--verbose"], with: more)
        var next = 0
        for _ in 0..<count {
            _ = try #require(try await child.errors.line(from: next) { $0.hasPrefix("gannet: fetched ") }, "\(child.errors.text)")
            next = (child.errors.lines[next...].firstIndex { $0.hasPrefix("gannet: fetched ") } ?? next) + 1
        }
        return child
    }

    /// Puts two URLs into the list, behind the first `count`. Their server is silent to the first two requests, and answers later ones with
    /// an empty body. Two downloads at a time get that far and no further, however fast the machine is.
    func gateList(after count: Int) throws -> HostileServer {
        let answer: [HostileServer.Step] = [
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close,
        ]
        let gate = try HostileServer(scripts: [[.silence], [.silence], answer])
        let gated = ["a", "b"].map { origin.url("/\($0).gate", through: gate) }
        let urls = origin.urls[..<count] + gated + origin.urls[count...]
        try folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        return gate
    }

    /// Every file of the origin is in the folder, whole, under a name that ends with its own; and nothing else is, but what belongs to the run.
    func expectAllBodies(_ location: SourceLocation = #_sourceLocation) throws {
        var missing = Dictionary(uniqueKeysWithValues: origin.files.map { ($0.path.dropFirst(), $0) })
        for file in try bodies() {
            let name = file.split(separator: "-").last ?? ""
            let expected = missing.removeValue(forKey: name)
            #expect(expected?.sha256 == sha256(of: try contents(ofFile: out + "/" + file)), "\(file)", sourceLocation: location)
        }
        #expect(missing.isEmpty, "\(missing.count) are missing", sourceLocation: location)
    }

    /// The files in the output folder, in its folders too; the lock, the record and the manifest left out.
    func bodies() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: out).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: out + "/" + $0, isDirectory: &isFolder) && !isFolder.boolValue
                && $0 != ".gannet-lock" && !$0.hasPrefix(".gannet/") && $0 != "manifest.jsonl" && !$0.hasSuffix(".gate")
        }
    }

    /// The half-written file of a killed process is no result.
    func removeTemporaryFiles() throws {
        for file in try bodies() where file.hasPrefix(".gannet-") { try FileManager.default.removeItem(atPath: out + "/" + file) }
    }

    /// How often each of the origin's files was asked for.
    func requests() async throws -> [String: Int] {
        try await origin.requests().reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
    }

    /// The keys of queues in Redis. Outcomes, hosts and the names of workers are the namespace's, and are forgotten in time.
    func queueKeys() async throws -> RedisAnswer { .list(try await keys("{gannet}q:*").map { .text($0) }) }
}

/// The processes of a fleet that a test may have left running.
private final class StartedProcesses: Sendable {
    private struct Reference {
        weak var process: ChildProcess?
    }

    private let references = Mutex<[Reference]>([])

    func note(_ process: ChildProcess) { references.withLock { $0.append(Reference(process: process)) } }

    func end() async throws {
        for process in references.withLock({ $0.compactMap(\.process) }) {
            process.kill()
            _ = try await process.exitStatus
        }
    }
}
