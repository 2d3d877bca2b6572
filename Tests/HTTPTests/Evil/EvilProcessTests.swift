import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

/// In processes of their own, so that no other test is counted.
@Suite(.timeLimit(.minutes(5))) struct EvilProcessTests {
    /// All behaviours, so many at a time, but for those that are known to spoil what comes after them.
    private static func round(_ bench: EvilBench) async throws {
        let behaviours = EvilRow.all.filter { $0.aftermath == nil }.map(\.behaviour)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, behaviour) in behaviours.enumerated() {
                if number >= 64 { try await group.next() }
                group.addTask { _ = try await bench.fetch(behaviour) }
            }
            try await group.waitForAll()
        }
    }

    /// The targets of the descriptors, without the numbers of inodes. A file of another test that was open when this process began
    /// is open here too. It counts the same before and after that test has removed it.
    private static func descriptors() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target.map { String($0.prefix { $0 != ":" }).replacingOccurrences(of: " (deleted)", with: "") }
        }.sorted()
    }

    @Test func `after all behaviours, thrice, the same process fetches on, with the memory and the descriptors it had`() async throws {
        try await inOwnProcess {
            let origin = try EvilOrigin(try await Certificates.shared)
            try await Self.warmUp(origin)
            let descriptors = try Self.descriptors()
            try await Self.expectFlatMemory(origin)
            let left = try Self.descriptors()
            #expect(left == descriptors, "\(left) instead of \(descriptors)")
        }
    }

    /// Opens everything that a process opens once and keeps.
    private static func warmUp(_ origin: EvilOrigin) async throws {
        let bench = try await EvilBench(origin)
        #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
        bench.engine.shutdown()
        try await origin.wait(for: .good) { $0.closings == $0.connections }
    }

    private static func expectFlatMemory(_ origin: EvilOrigin) async throws {
        let bench = try await EvilBench(origin)
        // Memory that the first rounds need once, such as buffers and sessions, is no growth. Neither is a fragmented heap after one of
        // them. A leak of each round shows in all of them.
        for _ in 0..<2 { try await round(bench) }
        var growth = Int.max
        var rounds = 0
        while growth >= 4 << 20, rounds < 3 {
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
            let memory = try ProcessMemory.residentAfterTrim()
            try await round(bench)
            #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
            growth = try ProcessMemory.residentAfterTrim() - memory
            rounds += 1
        }
        if ProcessMemory.isMeaningful { #expect(growth < 4 << 20, "grew by \(growth >> 10) KiB in each of \(rounds) rounds") }

        bench.engine.shutdown()
        for behaviour in EvilBehaviour.allCases {
            try await origin.wait(for: behaviour) { $0.closings == $0.connections }
        }
        #expect(try bench.folder.files == [])
    }

    /// By how much a fetch may enlarge a process, which has the origin in it too. The largest body permitted has 2 MB.
    private static let memory = 16 << 20

    @Test func `no behaviour makes the process much larger while it is fetched`() async throws {
        try await inOwnProcess {
            let origin = try EvilOrigin(try await Certificates.shared)
            try await Self.warmUp(origin)
            let bench = try await EvilBench(origin)
            for row in EvilRow.all where !row.mayTimeOut {
                let growth = try await Self.peak { _ = try await bench.fetch(row.behaviour) }
                #expect(growth < Self.memory, "\(row.behaviour): grew by \(growth >> 10) KiB")
            }
            // They wait for the engine's patience, so side by side. No two of them may take more than one.
            let growth = try await Self.peak {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for row in EvilRow.all where row.mayTimeOut { group.addTask { _ = try await bench.fetch(row.behaviour) } }
                    try await group.waitForAll()
                }
            }
            #expect(growth < Self.memory, "all that may time out: grew by \(growth >> 10) KiB")
        }
    }

    /// How much larger the process was at most while the work was done.
    private static func peak(_ work: () async throws -> Void) async throws -> Int {
        let before = try ProcessMemory.residentAfterTrim()
        try ProcessMemory.resetPeak()
        try await work()
        return ProcessMemory.isMeaningful ? try ProcessMemory.peak() - before : 0
    }

    @Test func `headers that begin with the continuation of none do not end the process`() async throws {
        try await inOwnProcess {
            // A crash must be quick and silent.
            signal(SIGABRT, SIG_DFL)
            signal(SIGSEGV, SIG_DFL)
            let bench = try await EvilBench()
            for _ in 0..<3 {
                #expect(try await bench.fetch(.good) == .gives(EvilBench.good))
                let outcome = try await bench.fetch(.foldedFirstHeader)
                #expect(outcome.isOne(of: [.gives("hello"), .fails(.protocolError)]), "\(outcome)")
            }
        }
    }

    @Test func `frames without content, without end, do not keep the engine from its other work`() async throws {
        try await inOwnProcess {
            // An engine whose thread does not return could not be stopped either.
            alarm(30)
            // Its good neighbours wait for as long as it takes to notice that one call of libcurl's does not end.
            let bench = try await EvilBench { $0.bePatient(for: .seconds(20)) }
            _ = try await bench.during([.http2EmptyData]) { () async throws in
                for _ in 0..<10 { #expect(try await bench.fetch(.good) == .gives(EvilBench.good)) }
            }
        }
    }
}
