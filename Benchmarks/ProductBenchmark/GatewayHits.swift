// Linux only: it reads the processor time of running processes from /proc.
import BenchmarkKit
import Foundation
import GannetTestKit

/// Answers that the gateway has in memory, beside nginx' `proxy_cache`. Both ask the same origin once for each URL before `wrk` asks them.
struct GatewayHits {
    let stage: Stage
    let rounds: Int
    let isQuick: Bool

    private static let clients = 64
    /// In bytes.
    private static let size = 10_000

    /// A server that has the bodies, and the paths of the URLs there.
    private struct Server: Sendable {
        let process: ChildProcess
        let address: String
        let path: @Sendable (Int) -> String
    }

    func run() async throws {
        let count = 1000
        let files = stage.folder.file("kept")
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: false)
        for number in 0..<count {
            let body = [UInt8]("/\(number)".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: Self.size - 10)
            try Data(body.prefix(Self.size)).write(to: URL(filePath: files + "/\(number)"))
        }
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.isFast = true
                $0.directives = "location /kept/ { alias \(files)/; add_header Cache-Control max-age=36000; }"
            })
        let proxy = try await proxy(of: origin)
        try await stage.clear()
        let gateway = try await gateway(of: origin)
        for (name, urls) in [("one URL", 1), ("\(grouped(count)) URLs", count)] {
            var contest = Contest([
                .init(name: "gannet serve", settings: "gannet serve --allow-net 127.0.0.0/8") { try await hits(gateway, urls) },
                .init(
                    name: "nginx proxy_cache", omits: "one request for all servers, checks of callers",
                    settings: "worker_processes auto; proxy_cache_lock on; proxy_cache_valid 200 10h; access_log off"
                ) { try await hits(proxy.server, urls) },
            ])
            try await contest.run(rounds: rounds)
            contest.printTable("Bodies of 10 KB that are kept, \(name), asked for by `wrk -t 1 -c \(Self.clients)`", unit: "answer")
        }
        gateway.process.terminate()
        _ = try await bounded("the gateway ends") { try await gateway.process.exitStatus }
        try await proxy.origin.stop()
        try await origin.stop()
    }

    private func gateway(of origin: Origin) async throws -> Server {
        let gateway = try await RunningGateway.start(stage)
        return Server(process: gateway.process, address: gateway.address) { "/v1/fetch?url=\(origin.url("/kept/\($0)"))" }
    }

    private func proxy(of origin: Origin) async throws -> (server: Server, origin: Origin) {
        let cache = stage.folder.file("proxy")
        let proxy = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.processes = Machine.cores
                $0.isFast = true
                $0.httpDirectives = "proxy_cache_path \(cache) levels=1:2 keys_zone=kept:10m max_size=1g inactive=10h use_temp_path=off;"
                $0.directives = """
                    location /kept/ {
                        proxy_pass \(origin.url("/kept/"));
                        proxy_http_version 1.1;
                        proxy_set_header Connection "";
                        proxy_cache kept;
                        proxy_cache_lock on;
                        proxy_cache_valid 200 10h;
                    }
                    """
            })
        return (Server(process: proxy.process, address: proxy.url("")) { "/kept/\($0)" }, proxy)
    }

    private func hits(_ server: Server, _ urls: Int) async throws -> Contest.Run {
        let script = stage.folder.file("urls.lua")
        let paths = (0..<urls).map { "wrk.format(\"GET\", \"\(server.path($0))\")" }.joined(separator: ",\n")
        let text = """
            local requests, at
            init = function() requests, at = {\(paths)}, 0 end
            request = function() at = at % #requests + 1; return requests[at] end
            """
        try Data(text.utf8).write(to: URL(filePath: script))
        _ = try await wrk(server, script, seconds: 1)
        let pid = server.process.pid
        let before = try RunningProcess.cpuTimeWithChildren(of: pid)
        let (count, seconds) = try await wrk(server, script, seconds: isQuick ? 1 : 5)
        let cpuTime = try RunningProcess.cpuTimeWithChildren(of: pid) - before
        let memory = try [RunningProcess.residentMemory(of: pid)] + RunningProcess.residentMemoryOfChildren(of: pid)
        return Contest.Run(count: count, seconds: seconds, cpuTime: cpuTime, peakMemory: memory.max() ?? 0)
    }

    /// How many answers came, and in what time. Each has to be a good one.
    private func wrk(_ server: Server, _ script: String, seconds: Int) async throws -> (Int, Double) {
        let command = Command("wrk", ["-t", "1", "-c", "\(Self.clients)", "-d", "\(seconds)s", "-s", script, server.address])
        let output = try await command.run().output
        let words = output.split(whereSeparator: \.isNewline).first { $0.contains(" requests in ") }?.split(separator: " ") ?? []
        guard !output.contains("Non-2xx"), !output.contains("Socket errors"), words.count > 3, let count = Int(words[0]),
            let time = Double(words[3].prefix { $0 != "s" })
        else { throw KitError("wrk says: \(output)") }
        return (count, time)
    }
}
