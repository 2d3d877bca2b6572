#if os(Linux)
import Foundation
import GannetTestKit
import Testing

@testable import HTTPEngine

/// In processes of their own, so that nothing else is in the account.
@Suite(.timeLimit(.minutes(1))) struct EvilProcessTests {
    /// All behaviours, so many at a time, but for those that are known to spoil what comes after them.
    private static func round(_ bench: EvilBench) async throws {
        let behaviours = EvilRow.all.filter { $0.aftermath == nil }.map(\.behaviour)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, behaviour) in behaviours.enumerated() {
                if number >= 16 { try await group.next() }
                group.addTask { _ = try await bench.fetch(behaviour) }
            }
            try await group.waitForAll()
        }
    }

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    @Test func `after all behaviours, twice, the same process fetches on, with the memory and the descriptors it had`() async {
        await #expect(processExitsWith: .success) {
            let origin = try EvilOrigin(try await Certificates.shared)
            let idle = try await EvilBench(origin)
            #expect(try await idle.fetch(.good) == .gives(EvilBench.good))
            idle.engine.shutdown()
            try await origin.wait(for: .good) { $0.closings == $0.connections }
            let descriptors = try Self.descriptors()

            let bench = try await EvilBench(origin)
            try await Self.round(bench)
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
            let memory = try ProcessMemory.residentAfterTrim()
            try await Self.round(bench)
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
            let growth = try ProcessMemory.residentAfterTrim() - memory
            if ProcessMemory.isMeaningful { #expect(growth < 4 << 20, "grew by \(growth >> 10) KiB") }

            bench.engine.shutdown()
            for behaviour in EvilBehaviour.allCases {
                try await origin.wait(for: behaviour) { $0.closings == $0.connections }
            }
            #expect(try Self.descriptors() == descriptors)
            #expect(try bench.folder.files == [])
        }
    }

    @Test func `headers that begin with the continuation of none do not end the process`() async {
        await withKnownIssue("libcurl before 8.1.1 frees twice what a handle keeps of its last transfer's headers.") {
            await #expect(processExitsWith: .success) {
                // A crash is to be quick and silent.
                signal(SIGABRT, SIG_DFL)
                signal(SIGSEGV, SIG_DFL)
                let bench = try await EvilBench()
                #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
                let outcome = try await bench.fetch(.foldedFirstHeader)
                #expect(outcome.isOne(of: [.gives("hello"), .fails(.protocolError)]), "\(outcome)")
                #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
            }
        }
    }

    @Test func `frames without content, without end, do not keep the engine from its other work`() async {
        await withKnownIssue("libcurl 7.88 reads on as long as there are any, whatever the time.", isIntermittent: true) {
            await #expect(processExitsWith: .success) {
                // The engine's thread may not come back to be stopped.
                alarm(10)
                let bench = try await EvilBench()
                _ = try await bench.during([.http2EmptyData]) { () async throws in
                    for _ in 0..<10 { #expect(try await bench.fetch(.good) == .gives(EvilBench.good)) }
                }
            }
        }
    }
}
#endif
