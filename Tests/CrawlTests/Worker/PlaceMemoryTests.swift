import GannetBase
import GannetQueue
import GannetRedisClient
import GannetTestKit
import Testing

@testable import Crawl

/// The memory of a request that waits for its answer.
@Suite struct PlaceMemoryTests {
    /// In bytes of the heap, each. Builds without optimisation keep larger frames of tasks.
    private static let most = 28 << 10
    private static let mostUnderTLS = 62 << 10

    @Test(arguments: [false, true]) func `a request that waits takes few bytes of the heap`(isSecure: Bool) async throws {
        let certificates = try await Certificates.shared
        let late = try LateOrigin(latency: .seconds(3600), bodySize: 1)
        let front = try await Origin.start(
            .init {
                $0.isFast = true
                $0.offersHTTP2 = false
                $0.certificate = certificates.good
                $0.directives = "location /late { proxy_pass http://127.0.0.1:\(late.port); proxy_read_timeout 1h; }"
            })
        let origin = isSecure ? "https://localhost:\(front.tlsPort ?? 0)" : "http://127.0.0.1:\(late.port)"
        try await WorkerFixture.with { fixture in
            guard case .unix(let socket) = fixture.redis.configuration.address else { throw KitError("Redis has no socket") }
            // The first requests bring what a process has once, and have larger buffers.
            let (first, more) = (256, 512)
            let words = [socket, fixture.namespace, "q", "4096", certificates.authority]
            let worker = try ChildProcess(.init(Program.built("TestHelper"), ["waiting"] + words))

            func heap(_ number: Int, after numbers: Range<Int>) async throws -> Int {
                let rows = try numbers.enumerated().map { place, number in
                    (
                        entry: try JobEntry(
                            id: WorkerFixture.id(number), host: "h", url: "\(origin)/late/a/path/of/usual/length/\(number)"),
                        row: place + 1
                    )
                }
                var progress = try await fixture.queue.begin(batch: "b\(number)", options: BatchOptions())
                _ = try await fixture.queue.enqueue(rows, to: rows.count, of: &progress, closing: true)
                try await eventually("\(numbers.upperBound) requests wait") {
                    guard worker.isRunning else { throw KitError("the worker has ended: \(worker.errors.text)") }
                    return late.connections >= numbers.upperBound
                }
                worker.signal(SIGUSR1)
                let line = try await bounded("the worker tells its heap") {
                    try await worker.output.line { $0.hasPrefix("heap \(number) ") }
                }
                guard let bytes = line?.split(separator: " ").last.flatMap({ Int($0) }) else { throw KitError("no heap: \(line ?? "")") }
                return bytes
            }

            let before = try await heap(1, after: 0..<first)
            let after = try await heap(2, after: first..<(first + more))
            let each = (after - before) / more
            #expect((1024...(isSecure ? Self.mostUnderTLS : Self.most)).contains(each), "\(each) bytes")
            worker.kill()
        }
        try await front.stop()
        try await late.stop()
    }
}
