import GannetBase
import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// Which pictures wait for a program.
@Suite(.timeLimit(.minutes(3))) struct ThumbnailTurnTests {
    @Test func `the pool starts programs up to their number, lets further pictures wait within their bytes, and gets these back`()
        async throws
    {
        let silent = try await SilentPrograms {
            $0.programs = 2
            $0.waiting = 100
        }
        var tasks: [Task<ThumbnailFailure.Kind?, Never>] = []
        for bytes in [40, 40, 60, 40] { tasks.append(try await silent.begin(bytes: bytes)) }
        try await eventually("two programs work") { silent.pool.programs == 2 }
        #expect(await silent.failure(bytes: 1) == .busy)
        tasks[2].cancel()
        #expect(await tasks[2].value == .cancelled)
        #expect(await silent.failure(bytes: 61) == .busy)
        tasks.append(try await silent.begin(bytes: 60))
        #expect(silent.pool.programs == 2)
        for task in tasks[3...] {
            task.cancel()
            #expect(await task.value == .cancelled)
        }
        try await silent.end(Array(tasks[..<2]))
    }

    @Test func `only so many pictures wait, however small they are, and each has its turn`() async throws {
        let silent = try await SilentPrograms {
            $0.programs = 1
            $0.waitingPictures = 2
        }
        var tasks: [Task<ThumbnailFailure.Kind?, Never>] = []
        for _ in 0..<3 { tasks.append(try await silent.begin(bytes: 1)) }
        #expect(await silent.failure(bytes: 1) == .busy)
        try await silent.end(tasks)
    }
}

/// A pool whose program is a script of the test, which answers no picture.
private struct SilentPrograms: Sendable {
    private let folder: TemporaryFolder
    let pool: ThumbnailPool

    init(_ change: (inout ThumbnailBounds) -> Void) async throws {
        folder = try TemporaryFolder()
        try folder.write(ThumbnailAnswer.ready.head(count: 0), to: "ready")
        // Its end of the pipe for answers stays open.
        let program = try await folder.writeProgram("/bin/cat \(folder.file("ready"))\nexec 3>&1\nexec /bin/cat >/dev/null")
        var bounds = ThumbnailBounds()
        change(&bounds)
        pool = ThumbnailPool(ThumbnailProgram(named: program, beside: ""), bounds)
    }

    /// Begins with a picture, and returns when the pool has taken it.
    func begin(bytes: Int) async throws -> Task<ThumbnailFailure.Kind?, Never> {
        let before = pool.taken
        let task = Task { await failure(bytes: bytes) }
        try await eventually("the pool has taken the picture") { pool.taken == before + 1 }
        return task
    }

    func failure(bytes: Int) async -> ThumbnailFailure.Kind? {
        let request = ThumbnailRequest(width: 20, height: 20, fit: .contain, format: .png)
        switch await pool.result(request, of: [UInt8](repeating: 0, count: bytes)) {
        case .success: return nil
        case .failure(let failure): return failure.kind
        }
    }

    /// Ends the programs that work, and those that follow them.
    func end(_ tasks: [Task<ThumbnailFailure.Kind?, Never>]) async throws {
        try await eventually("no picture is left") {
            for process in pool.processes { kill(process, SIGKILL) }
            return pool.taken == 0
        }
        for task in tasks { #expect(await task.value == .crashed) }
        pool.close()
    }
}
