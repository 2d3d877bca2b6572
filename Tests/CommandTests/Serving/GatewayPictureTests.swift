import Foundation
import GannetBase
import GannetPictures
import GannetTestKit
import Testing

/// `/v1/picture`: pictures of origins at the size that clients need.
@Suite(.timeLimit(.minutes(2)), .enabled(if: MachineNeed.canMakeThumbnails)) struct GatewayPictureTests {
    /// Serves files that a test writes.
    private static func start(_ files: [String: [UInt8]] = ["a.png": MadePicture.png(200, 100)]) async throws -> (Fleet, Gateway) {
        let folder = try TemporaryFolder()
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        let fleet = try await Fleet.start { options in
            options.fileCount = 1
            options.directives = """
                location /files/ { alias \(folder.path)/; add_header Cache-Control max-age=600; }
                location /private/ { alias \(folder.path)/; add_header Cache-Control no-store; }
                """
        }
        Kept.folders.withLock { $0.append(folder) }
        return (fleet, try await fleet.gateway())
    }

    private func ask(
        _ gateway: Gateway, _ url: String, _ query: String, accept: String = "*/*", _ words: [String] = []
    ) async throws
        -> Gateway.Answer
    {
        try await gateway.ask("/v1/picture?url=\(url)&\(query)", ["-H", "Accept: \(accept)"] + words)
    }

    @Test(arguments: [
        ("width=50", "*/*", "image/jpeg"), ("width=50", "image/webp,*/*", "image/webp"),
        ("width=50", "image/avif,image/webp", "image/avif"),
        ("width=1000", "image/avif,image/webp", "image/webp"), ("width=50", "image/webp;q=0", "image/jpeg"),
        ("width=50&format=png", "image/webp", "image/png"), ("width=50&format=avif", "*/*", "image/avif"),
    ])
    func `the format follows from the query or from the client's Accept`(query: String, accept: String, type: String) async throws {
        let (fleet, gateway) = try await Self.start()
        let answer = try await ask(gateway, fleet.origin.url("/files/a.png"), query, accept: accept)
        #expect(answer.status == 200 && answer.headers["content-type"] == type)
        #expect(answer.headers["vary"] == "Accept" && answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["cache-control"] == "max-age=600")
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test(arguments: [
        ("width=50", 50, 25), ("width=50&height=10", 20, 10), ("width=50&fit=cover", 50, 50), ("width=50&height=80&fit=cover", 50, 80),
    ])
    func `a size may leave the height out`(query: String, width: Int, height: Int) async throws {
        let (fleet, gateway) = try await Self.start()
        let folder = try TemporaryFolder()
        let url = "\(gateway.url)/v1/picture?url=\(fleet.origin.url("/files/a.png"))&\(query)"
        try await ChildProcess.succeed("curl", ["--silent", "--fail", "--output", folder.file("made"), url])
        let info = try ImageProbe().examine(Array(try Data(contentsOf: URL(fileURLWithPath: folder.file("made")))))
        #expect(info.size == ImageSize(width: width, height: height))
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `a thumbnail is made once for the fleet, and a client that has it hears so`() async throws {
        let (fleet, first) = try await Self.start()
        let second = try await fleet.gateway()
        let url = fleet.origin.url("/files/a.png")
        let made = try await ask(first, url, "width=50&height=50&fit=cover")
        #expect(made.headers["cache-status"]?.contains("gannet-thumbnail; fwd=miss") == true)
        let kept = try await ask(second, url, "width=50&height=50&fit=cover")
        #expect(kept.headers["cache-status"]?.contains("gannet-thumbnail; hit") == true)
        let tag = try #require(kept.headers["etag"])
        #expect(tag == made.headers["etag"])
        let same = try await ask(second, url, "width=50&height=50&fit=cover", ["-H", "If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty)
        #expect(try await ask(second, url, "width=50").headers["cache-status"]?.contains("gannet-thumbnail; fwd=miss") == true)
        #expect(try await fleet.origin.requests().count == 1)
        for gateway in [first, second] { try await gateway.stop() }
        try await fleet.stop()
    }

    @Test func `a thumbnail of a picture that may not be kept is not kept`() async throws {
        let (fleet, gateway) = try await Self.start()
        for _ in 0..<2 {
            let answer = try await ask(gateway, fleet.origin.url("/private/a.png"), "width=50")
            #expect(answer.status == 200 && answer.headers["cache-status"]?.contains("gannet-thumbnail; fwd=miss") == true)
        }
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `pictures that are none, broken or too large are problems with fitting statuses`() async throws {
        let (fleet, gateway) = try await Self.start([
            "text.png": Array("hello".utf8), "broken.png": Array(MadePicture.png(200, 100).prefix(300)),
            "bomb.png": MadePicture.png(60_000, 60_000, .rgb, zlib: [0]),
        ])
        for (name, status, errorClass) in [
            ("text.png", 415, "not-a-picture"), ("broken.png", 422, "picture-broken"), ("bomb.png", 413, "picture-too-large"),
            ("none.png", 404, "http-404"),
        ] {
            let answer = try await ask(gateway, fleet.origin.url("/files/\(name)"), "width=50")
            #expect(answer.status == status && answer.headers["content-type"] == "application/problem+json", "\(name)")
            #expect(try answer.json()["class"] as? String == errorClass)
        }
        let metrics = try await gateway.ask("/metrics")
        for line in [
            "thumbnail_failures_total{class=\"picture-broken\"} 1", "thumbnail_failures_total{class=\"not-a-picture\"} 1",
            "thumbnails_total{source=\"made\"} 0", "failures_total{class=\"http-4xx\"} 1", "thumbnail_programs 1",
        ] {
            #expect(metrics.body.contains("\ngannet_gateway_\(line)\n"), "\(line)")
        }
        for query in ["", "height=9", "width=0", "width=5000", "width=9&format=gif", "width=9&quality=3"] {
            #expect(try await ask(gateway, fleet.origin.url("/files/text.png"), query).status == 400, "\(query)")
        }
        try await gateway.stop()
        try await fleet.stop()
    }

    @Test func `without the program a picture is a problem that says how to get it`() async throws {
        let (fleet, gateway) = try await Self.start()
        let folder = try TemporaryFolder()
        let program = try folder.write(Array("#!/bin/sh\n".utf8), to: "program")
        #expect(chmod(program, 0o700) == 0)
        let other = try await fleet.gateway(["--thumbnail-program", program])
        #expect(unlink(program) == 0)
        let answer = try await ask(other, fleet.origin.url("/files/a.png"), "width=50")
        #expect(answer.status == 501)
        #expect(try answer.json()["class"] as? String == "thumbnail-program-missing")
        #expect(try await fleet.origin.requests().isEmpty)
        let reader = try await fleet.gateway(["--read-only"])
        #expect(try await ask(reader, fleet.origin.url("/files/a.png"), "width=50").status == 403)
        for gateway in [gateway, other, reader] { try await gateway.stop() }
        try await fleet.stop()
    }
}

/// Folders that origins serve.
private enum Kept {
    static let folders = Mutex<[TemporaryFolder]>([])
}
