import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

/// The worst of the web. Each case must reach its own outcome, and leave nothing behind. An engine without patience would wait until the time of
/// its test is over. `EvilProcessTests` look at the memory that a case takes.
@Suite(.timeLimit(.minutes(5))) struct EvilTests {
    /// For rows whose outcome is no timeout: a slow machine must not make it one.
    private static let longPatience = Duration.seconds(60)

    @Test(arguments: EvilRow.all)
    func `each behaviour has its own outcome in time, and leaves nothing behind`(row: EvilRow) async throws {
        let bench = try await EvilBench {
            guard !row.mayTimeOut else { return }
            $0.timeout = Self.longPatience
            $0.connectTimeout = Self.longPatience
        }
        let origin = bench.origin
        try await row.aftermath.run { () async throws in
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good), "after \(row.behaviour)")
        }

        try await row.defect.run {
            let report = try await bench.report(origin.url(row.behaviour))
            #expect(report.outcome.isOne(of: row.expected), "\(row.behaviour) \(report.outcome) instead of \(row.expected)")
            for text in report.texts { Self.expectHarmless(text) }
        }

        #expect(try bench.folder.files == [])
        #expect(bench.folder.openFiles == [])
        // An endless answer ends only when the engine closes its connection.
        if !row.isStream { try await origin.wait(for: row.behaviour) { $0.running == 0 } }
        try await row.aftermath.run { () async throws in
            let next = try await bench.fetch(.good)
            #expect(next == .gives(EvilBench.good), "after \(row.behaviour)")
        }
        bench.engine.shutdown()
        try await origin.wait(for: row.behaviour) { $0.running == 0 }
    }

    @Test func `every behaviour has its row`() {
        let rows = EvilRow.all.map(\.behaviour)
        #expect(Set(rows).count == rows.count)
        // A name that changes its address needs a resolver that does.
        let others = EvilRow.fatal.union([.redirectToRebindingName])
        #expect(Set(EvilBehaviour.allCases).subtracting(rows) == others)
    }

    /// A stranger's text that people read must neither steer a terminal nor fill a log.
    private static func expectHarmless(_ text: String) {
        #expect(
            text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "control characters in \(text.debugDescription)")
        #expect(text.utf8.count <= CanonicalURL.maximumLength + 1000, "\(text.utf8.count) bytes of text")
    }
}
