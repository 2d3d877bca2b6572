import Foundation
import GannetTestKit
import Testing

/// curl unpacks two bombs of 1 GiB, which takes some seconds of a processor. The limit is for a machine that is ten times slower.
@Suite(.timeLimit(.minutes(5))) struct EvilOriginTests {
    private let certificates: Certificates
    private let origin: EvilOrigin

    init() async throws {
        certificates = try await Certificates.shared
        origin = try EvilOrigin(certificates)
    }

    private func curl(_ arguments: String...) async throws -> ChildProcess.Outcome {
        let always = ["--silent", "--noproxy", "*", "--globoff", "--cacert", certificates.authority]
        return try await ChildProcess.run(.init("curl", always + arguments))
    }

    private static let good = String(decoding: EvilOrigin.goodBody, as: UTF8.self)

    @Test func `every behaviour has a URL of its own`() {
        let all = EvilBehaviour.allCases
        #expect(Set(all.map { origin.url($0) }).count == all.count)
        #expect(all.allSatisfy { behaviour in behaviour.path.dropFirst().allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } })
        #expect(EvilBehaviour.chunkedInHTTP10.path == "/chunked-in-http10")
        #expect(EvilBehaviour.oneByteASecond.path == "/one-byte-a-second")
    }

    @Test func `good requests get good answers over one connection, and are counted`() async throws {
        let outcome = try await curl(origin.url(.good), origin.url(.good))
        #expect(outcome.status == .exited(0))
        #expect(outcome.output == Self.good + Self.good)
        try await origin.wait(for: .good) { $0 == .init(connections: 1, requests: 2, closings: 1, running: 0) }
        #expect(try await curl("--write-out", "%{http_code}", origin.url(.good) + "-for-nothing").output == "no such behaviour\n404")
        try await origin.stop()
    }

    @Test func `behaviours come by plain paths, by paths under TLS, and by ports of their own`() async throws {
        #expect(try await curl(origin.url(.truncatedBody)).status == .exited(18))
        #expect(try await curl(origin.url(.refusesConnections)).status == .exited(7))
        #expect(try await curl("--connect-timeout", "0.2", origin.url(.neverAccepts)).status == .exited(28))
        #expect(try await curl(origin.url(.expiredCertificate)).status == .exited(60))
        #expect(try await curl("--insecure", origin.url(.expiredCertificate)).output == "hello")
        #expect(try await curl(origin.url(.cutWithoutFarewell)).output == "hell")
        #expect(try await curl("--http2", origin.url(.http2Reset)).status == .exited(92))
        try await origin.stop()
    }

    @Test func `curl unpacks good compressed bodies, and refuses damaged ones`() async throws {
        for behaviour in [EvilBehaviour.gzip, .brotli, .zlibDeflate] {
            #expect(try await curl("--compressed", origin.url(behaviour)).output == "hello", "\(behaviour)")
        }
        for behaviour in [EvilBehaviour.gzipWrongSum, .gzipUnpacked, .brotliGarbage] {
            #expect(try await curl("--compressed", origin.url(behaviour)).status == .exited(61), "\(behaviour)")
        }
        for behaviour in [EvilBehaviour.gzipBomb, .brotliBomb] {
            let size = try await curl("--compressed", "--output", "/dev/null", "--write-out", "%{size_download}", origin.url(behaviour))
            #expect(size.status == .exited(0), "\(behaviour)")
            #expect(Int(size.output) ?? .max < 2_000_000, "\(behaviour)")
        }
        try await origin.stop()
    }

    @Test func `a stop ends at once connections that wait, trickle and flood`() async throws {
        let endless: [EvilBehaviour] = [.neverAnswers, .oneByteASecond, .endlessBody, .silentHandshake, .slowHandshake, .http2Silent]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for behaviour in endless {
                group.addTask {
                    let outcome = try await curl("--http2", "--max-time", "50", "--output", "/dev/null", origin.url(behaviour))
                    #expect(outcome.status != .exited(28))
                }
            }
            for behaviour in endless { try await origin.wait(for: behaviour) { $0.running == 1 } }
            try await origin.stop()
            for behaviour in endless { #expect(origin.count(behaviour).closings == 1) }
            try await group.waitForAll()
        }
        #expect(try await curl(origin.url(.good)).status == .exited(7))
    }
}
