import Foundation
import GannetTestKit
import Testing

@testable import HTTPEngine

/// The worst of the web. Each case must reach its own outcome, in time, in little memory, and leave nothing behind.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EvilTests {
    /// Beyond the engine's own patience: two cores may have other things to do, and sanitizers make them slow. An engine without patience
    /// would wait for ever.
    private static let slack = Duration.seconds(60)
    /// For rows whose outcome is no timeout: a slow machine must not make it one.
    private static let longPatience = Duration.seconds(60)
    /// By how much a fetch may enlarge this process, which has the origin in it too. The largest body permitted has 2 MB.
    private static let memory = 16 << 20

    @Test(arguments: EvilRow.all)
    func `each behaviour has its own outcome, within bounds of time and memory, and leaves nothing behind`(row: EvilRow) async throws {
        let bench = try await EvilBench {
            guard !row.mayTimeOut else { return }
            $0.timeout = Self.longPatience
            $0.connectTimeout = Self.longPatience
        }
        let origin = bench.origin
        try await row.aftermath.run { () async throws in
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good), "after \(row.behaviour)")
        }

        let before = try Self.memoryBefore()
        let start = ContinuousClock.now
        try await row.defect.run {
            let report = try await bench.report(origin.url(row.behaviour))
            #expect(report.outcome.isOne(of: row.expected), "\(row.behaviour) \(report.outcome) instead of \(row.expected)")
            for text in report.texts { Self.expectHarmless(text) }
        }
        if row.mayTimeOut { #expect(ContinuousClock.now - start < EvilBench.patience + Self.slack) }
        // Other work of this process may have taken memory meanwhile. A fetch that takes too much does so each time.
        var growth = try Self.growth(since: before)
        for _ in 0..<2 where growth >= Self.memory {
            let again = try Self.memoryBefore()
            _ = try await bench.report(origin.url(row.behaviour))
            growth = try Self.growth(since: again)
        }
        #expect(growth < Self.memory, "grew by \(growth >> 10) KiB")

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

    private static func memoryBefore() throws -> Int {
        #if os(Linux)
        let resident = try ProcessMemory.residentAfterTrim()
        try ProcessMemory.resetPeak()
        return resident
        #else
        return 0
        #endif
    }

    private static func growth(since before: Int) throws -> Int {
        #if os(Linux)
        return ProcessMemory.isMeaningful ? try ProcessMemory.peak() - before : 0
        #else
        return 0
        #endif
    }
}
