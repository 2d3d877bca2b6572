import Foundation
import GannetBase
import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// The programs behind the pool: what their deaths and bounds cost.
@Suite(.timeLimit(.minutes(2)), .enabled(if: MachineNeed.canMakeThumbnails)) struct ThumbnailPoolTests {
    /// Takes long: most of the time goes into decoding 90 million pixels.
    private static let slow = MadePicture.png(
        10_000, 9000, .grey, zlib: Deflated.zlib([UInt8](repeating: 0, count: 9000 * 10_001), level: 1))
    private static let small = MadePicture.png(9, 9)

    /// The number of the pool's one process.
    private func process(of making: Making) throws -> Int32 {
        let processes = making.pool.processes
        try #require(processes.count == 1)
        return try #require(processes.first)
    }

    @Test func `a program that is killed at work costs one picture an error`() async throws {
        let making = Making { $0.programs = 2 }
        var end: ThumbnailFailure.Kind?
        // A test that is held up for a quarter of a second kills the program too late, when the picture is made.
        for _ in 0..<20 where end == nil {
            #expect(await making.failure(of: Self.small) == nil)
            let pid = try process(of: making)
            let before = try Self.ticks(pid)
            async let killed = making.failure(of: Self.slow)
            // The other picture comes when the first one has the only program.
            try await eventually("the program computes") { try Self.ticks(pid) > before + 1 }
            async let other = making.failure(of: Self.small)
            kill(pid, SIGKILL)
            end = await killed
            let otherEnd = await other
            // Too late, the program has the other picture.
            if end != nil { #expect(otherEnd == nil) }
        }
        #expect(end == .crashed)
        #expect(await making.failure(of: Self.small) == nil)
        making.pool.close()
    }

    /// The processor time of a process, in hundredths of a second.
    private static func ticks(_ pid: Int32) throws -> Int {
        let fields =
            try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
    }

    @Test func `a program that has died while idle costs no picture an error`() async throws {
        let making = Making()
        #expect(await making.failure(of: Self.small) == nil)
        let pid = try process(of: making)
        kill(pid, SIGKILL)
        // Its pipes close when the last of its threads has gone.
        try await eventually("the program and its threads have ended") {
            let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            return status.contains("State:\tZ") && status.contains("Threads:\t1\n")
        }
        #expect(await making.failure(of: Self.small) == nil)
        making.pool.close()
    }

    @Test func `a picture that takes too much processor time is too slow`() async throws {
        let making = Making { $0.computing = .milliseconds(30) }
        #expect(await making.failure(of: Self.slow) == .tooSlow)
        making.pool.close()
    }

    @Test func `a picture whose program hangs is too slow when its time is over`() async throws {
        let making = Making { $0.time = .milliseconds(30) }
        #expect(await making.failure(of: Self.slow) == .tooSlow)
        making.pool.close()
    }

    @Test func `a picture that needs more memory than it may have is an error, and the process stays below the bound`() async throws {
        // AVIF is decoded as a whole.
        let picture = try await Making().picture(.avif, 4000, 3000)
        #expect(await Making { $0.memory = 24 << 20 }.failure(of: picture) != nil)
        let making = Making { $0.memory = 300 << 20 }
        #expect(await making.failure(of: picture) == nil)
        let status = try String(contentsOfFile: "/proc/\(try process(of: making))/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: { !$0.isNumber }).first
        // The program itself has less than 100 MB.
        #expect(try #require(peak.flatMap { Int($0) }) < 400 << 10)
        making.pool.close()
    }

    @Test func `a program is replaced after its number of pictures`() async throws {
        let making = Making { $0.pictures = 2 }
        #expect(await making.failure(of: Self.small) == nil)
        let first = try process(of: making)
        #expect(await making.failure(of: Self.small) == nil)
        #expect(making.pool.processes.isEmpty)
        #expect(await making.failure(of: Self.small) == nil)
        #expect(try process(of: making) != first)
        making.pool.close()
    }

    @Test func `the program that worked last takes the next picture`() async throws {
        let making = Making {
            $0.programs = 2
            $0.pictures = 3
        }
        #expect(await making.failure(of: Self.small) == nil)
        let first = try process(of: making)
        let (isTaken, mayGo) = (SharedFlag(), Condition(false))
        let request = ThumbnailRequest(width: 64, height: 64, fit: .contain, format: .plain)
        async let late = making.pool.result(request, count: Self.small.count) {
            isTaken.set()
            mayGo.wait { $0 ? () : nil }
            return Self.small
        }
        try await eventually("a picture has the first program") { isTaken.isSet }
        #expect(await making.failure(of: Self.small) == nil)
        mayGo.withLock { $0 = true }
        mayGo.wakeAll()
        _ = try await late.get()
        #expect(making.pool.processes.count == 2)
        // The third picture of the first program is its last.
        #expect(await making.failure(of: Self.small) == nil)
        #expect(making.pool.processes.count == 1 && !making.pool.processes.contains(first))
        making.pool.close()
    }

    @Test func `a pool that is closed has no program, and takes no picture`() async throws {
        let making = Making()
        #expect(await making.failure(of: Self.small) == nil)
        making.pool.close()
        #expect(making.pool.processes.isEmpty)
        #expect(await making.failure(of: Self.small) == .busy)
    }

    @Test func `an idle program ends after a while`() async throws {
        let making = Making { $0.idle = .milliseconds(1) }
        #expect(await making.failure(of: Self.small) == nil)
        try await eventually("no program is left") { making.pool.processes.isEmpty }
    }

    @Test func `a picture whose client leaves waits no more`() async throws {
        let making = Making()
        async let slow = making.failure(of: Self.slow)
        try await eventually("the only program is at work") { making.pool.programs == 1 }
        let waiting = Task { await making.failure(of: Self.small) }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(await slow == nil)
        making.pool.close()
    }

    @Test func `too many waiting pictures are refused`() async throws {
        let making = Making { $0.waiting = 10 }
        let kinds = await withTaskGroup(of: ThumbnailFailure.Kind?.self) { group in
            for _ in 0..<3 { group.addTask { await making.failure(of: Self.small) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(kinds.filter { $0 == .busy }.count == 2, "\(kinds)")
        making.pool.close()
    }

    @Test func `a missing program is said in one sentence`() async throws {
        let pool = ThumbnailPool(ThumbnailProgram(named: nil, beside: "/nowhere/gannet"))
        let result = await pool.result(ThumbnailRequest(width: 1, height: 1, fit: .contain, format: .plain), of: [])
        let failure = try #require(throws: ThumbnailFailure.self) { try result.get() }
        #expect(failure.kind == .missing && failure.sentence.contains("libvips-dev"))
    }

    @Test func `a program that cannot work says why`() async throws {
        let folder = try TemporaryFolder()
        let words = Array("libvips cannot write avif here.".utf8)
        try folder.write(ThumbnailAnswer.refused(.unfit).head(count: words.count) + words, to: "answer")
        let program = try await folder.writeProgram("exec /bin/cat \(folder.file("answer"))")
        let pool = ThumbnailPool(ThumbnailProgram(named: program, beside: ""))
        let result = await pool.result(ThumbnailRequest(width: 1, height: 1, fit: .contain, format: .plain), of: [])
        let failure = try #require(throws: ThumbnailFailure.self) { try result.get() }
        #expect(failure.kind == .unfit && failure.sentence.hasSuffix("libvips cannot write avif here."))
    }

    @Test func `a program that is none of ours is unfit`() async throws {
        let pool = ThumbnailPool(ThumbnailProgram(named: "/bin/true", beside: ""))
        let result = await pool.result(ThumbnailRequest(width: 1, height: 1, fit: .contain, format: .plain), of: [])
        #expect(throws: ThumbnailFailure.self) { try result.get() }
    }
}
