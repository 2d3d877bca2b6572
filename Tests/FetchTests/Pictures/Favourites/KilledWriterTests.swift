import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct KilledWriterTests {
    /// The changes that the program `FavouritesWriter` makes, one for each of its lines.
    private struct Writer {
        let name: String
        let process: ChildProcess

        init(_ name: String, _ path: String) throws {
            self.name = name
            process = try ChildProcess(.init(Program.built("TestHelper"), ["favourites", path, name]))
        }

        /// Returns when the process has written so many lines.
        func wrote(_ count: Int) async throws {
            guard try await process.output.line(from: count - 1, where: { _ in true }) != nil else {
                throw KitError("the writer ended with \(try await process.exitStatus): \(process.errors.text)")
            }
        }

        /// Ends it as kill -9 does. Returns the favourites that it may have left: with its last change, or without.
        func kill9() async throws -> [Set<String>] {
            process.kill()
            #expect(try await process.exitStatus == .signalled(SIGKILL))
            try await process.output.finished()
            let made = process.output.lines.count
            return [favourites(after: made), favourites(after: made + 1)]
        }

        private func favourites(after changes: Int) -> Set<String> {
            var favourites: Set<String> = []
            for change in 0..<changes {
                let (round, step) = (change / 4 * 3, change % 4)
                if step < 3 { favourites.insert("\(name)-\(round + step)") } else { favourites.remove("\(name)-\(round)") }
            }
            return favourites
        }
    }

    private static func read(_ path: String) throws -> Set<String> {
        guard let favourites = FavouritesFormat.read(try contents(ofFile: path)) else {
            throw KitError("the file is not whole: \(String(decoding: try contents(ofFile: path), as: UTF8.self))")
        }
        return Set(favourites.map(\.id))
    }

    @Test func `after each kill -9 the file is whole, and it has all changes of both processes`() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        var random = SeededBytes(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.file("favourites.json")
        let survivor = try Writer("survivor", path)
        try await survivor.wrote(1)
        var expected: Set<String> = []
        var leftovers = 0
        for round in 0..<25 {
            let victim = try Writer("\(round)", path)
            try await victim.wrote(1 + Int(random.next() % 6))
            // A part of the time that one change takes.
            for _ in 0..<random.next() % 200_000 { pause() }
            let states = try await victim.kill9()
            leftovers += try folder.files.contains("favourites.json.new") ? 1 : 0
            // The other process goes on: the dead one's lock is gone.
            try await survivor.wrote(survivor.process.output.lines.count + 2)
            let left = try Self.read(path).filter { $0.hasPrefix("\(round)-") }
            #expect(states.contains(left), "seed \(seed), round \(round): \(left.sorted()) instead of \(states[0].sorted())")
            expected.formUnion(left)
        }
        let states = try await survivor.kill9()
        let all = try Self.read(path)
        let own = all.filter { $0.hasPrefix("survivor-") }
        #expect(states.contains(own), "seed \(seed)")
        #expect(all.subtracting(own) == expected, "seed \(seed)")
        let favourites = try Favourites(URL(filePath: path))
        try await favourites.add("last")
        #expect(try folder.files.sorted() == ["favourites.json", "favourites.json.lock"], "seed \(seed)")
        print("\(all.count) favourites after 26 kills; \(leftovers) left a file half written or not yet renamed")
    }

    @inline(never) private func pause() {}
}
