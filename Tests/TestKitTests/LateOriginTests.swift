import Foundation
import Testing

@testable import GannetTestKit

@Suite struct LateOriginTests {
    private func curl(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(.init("curl", ["--silent", "--show-error", "--noproxy", "*"] + arguments))
    }

    @Test func `every body has its size and begins with the path of its URL`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(1), bodySize: 10_000)
        let folder = try TemporaryFolder()
        let outcome = try await curl(
            ["--parallel", "--parallel-max", "200", "--output", folder.file("#1"), origin.url("/file-[1-500]?a=b")])
        #expect(outcome.status == .exited(0), "\(outcome.errors)")
        let wrong = try (1...500).filter { number in
            let path = "/file-\(number)?a=b"
            let body = path + String(repeating: "x", count: 10_000 - path.utf8.count)
            return try contents(ofFile: folder.file("\(number)")) != Array(body.utf8)
        }
        #expect(wrong.isEmpty)
        #expect(origin.answered == 500)
    }

    @Test func `no answer comes before its time`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(50), bodySize: 10)
        let outcome = try await curl(
            ["--parallel", "--output", "/dev/null", "--write-out", "%{time_starttransfer}\n", origin.url("/[1-20]")])
        let times = outcome.output.split(separator: "\n").compactMap { Double($0) }
        #expect(times.count == 20 && times.allSatisfy { $0 >= 0.05 }, "\(times)")
    }

    @Test func `a connection is kept for the next request`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(1), bodySize: 10)
        #expect(try await curl([origin.url("/[1-10]")]).output.count == 100)
        #expect(origin.connections == 1)
        #expect(origin.answered == 10)
    }

    @Test func `a stopped origin refuses connections`() async throws {
        let origin = try LateOrigin(latency: .seconds(60), bodySize: 10)
        let waiting = try ChildProcess(.init("curl", ["--silent", "--noproxy", "*", origin.url("/")]))
        try await eventually("the request is there") { origin.connections == 1 }
        try await origin.stop()
        #expect(try await waiting.exitStatus != .exited(0))
        #expect(try await curl([origin.url("/")]).status == .exited(7))
    }

    /// The other end of a connection within this process.
    private static func otherEnd(of client: Int32) -> Int32? {
        let port = Socket.port(of: client)
        return (0..<4096).first { descriptor in
            var name = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return status == 0 && name.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: name.sin_port) == port
        }
    }

    /// Whether a set of epoll's in this process has the socket.
    private static func isWatched(_ socket: stat) throws -> Bool {
        let mark = "ino:\(String(socket.st_ino, radix: 16)) "
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { number in
            (try? contents(ofFile: "/proc/self/fdinfo/\(number)")).map { String(decoding: $0, as: UTF8.self).contains(mark) } ?? false
        }
    }

    @Test func `a connection that has ended is watched no more, although a process that is being started has it open too`() async throws {
        let origin = try LateOrigin(latency: .milliseconds(1), bodySize: 10)
        let client = try Socket.connect(to: .loopback(port: origin.port))
        try await eventually("the connection is there") { origin.connections == 1 }
        let copy = dup(try #require(Self.otherEnd(of: client)))
        defer { close(copy) }
        var socket = stat()
        #expect(fstat(copy, &socket) == 0)
        try await eventually("the connection is watched") { try Self.isWatched(socket) }
        close(client)
        try await eventually("the connection is watched no more") { try !Self.isWatched(socket) }
        try await origin.stop()
    }
}
