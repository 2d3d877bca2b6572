import Foundation
import GannetTestKit
import Testing

@testable import GannetFetch

struct FavouritesTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("favourites.json") }
    private var url: URL { URL(filePath: path) }

    init() throws { folder = try TemporaryFolder() }

    private func error(_ work: () async throws -> Void) async -> FavouritesError? {
        await #expect(throws: FavouritesError.self) { try await work() }
    }

    @Test func `favourites are there for the next object, in the order in which they were added`() async throws {
        let favourites = try Favourites(url)
        #expect(try await favourites.all == [])
        #expect(try await favourites.add("http://a/ü\n\"1\""))
        #expect(try await favourites.add("b"))
        #expect(try await !favourites.add("b"))
        let all = try await favourites.all
        #expect(all.map(\.id) == ["http://a/ü\n\"1\"", "b"] && all[0].added <= all[1].added)
        let other = try Favourites(url)
        #expect(try await other.all == all)
        #expect(try await other.remove("b"))
        #expect(try await !other.remove("b"))
        #expect(try await !favourites.contains("b"))
        #expect(try folder.files.sorted() == ["favourites.json", "favourites.json.lock"])
    }

    @Test func `hundreds of changes at once, by objects that know nothing of each other, are all kept`() async throws {
        try await withThrowingTaskGroup { group in
            for object in 0..<4 {
                let favourites = try Favourites(url)
                for number in 0..<50 { group.addTask { _ = try await favourites.add("\(object)-\(number)") } }
            }
            try await group.waitForAll()
        }
        let favourites = try Favourites(url)
        for number in 0..<50 { try await favourites.remove("0-\(number)") }
        let all = try await favourites.all
        #expect(Set(all.map(\.id)).count == 150)
    }

    @Test func `changes of this object and of others are heard`() async throws {
        let favourites = try Favourites(url)
        try await favourites.add("a")
        var changes = favourites.changes(every: .milliseconds(5)).makeAsyncIterator()
        #expect(await changes.next()?.map(\.id) == ["a"])
        try await favourites.add("b")
        #expect(await changes.next()?.map(\.id) == ["a", "b"])
        try await Favourites(url).remove("a")
        #expect(await changes.next()?.map(\.id) == ["b"])
    }

    @Test func `a loop over the changes ends with its object`() async throws {
        var favourites: Favourites? = try Favourites(url)
        let changes = try #require(favourites).changes
        favourites = nil
        for await _ in changes {}
    }

    @Test(arguments: [
        #"{"version":1,"favourites":[{"id":"a","added":9223372036854775807}]}"#, "", "{", #"{"version":1}"#,
        #"{"version":0,"favourites":[]}"#, #"{"version":1,"favourites":[{"id":7}]}"#, "\u{0}\u{0}\u{0}",
    ])
    func `a damaged file is set aside with a plain sentence, and never written over`(content: String) async throws {
        try await expectSetAside(content)
    }

    @Test func `a file that is too long is set aside too`() async throws {
        try await expectSetAside(String(repeating: " ", count: 4_000_001))
    }

    private func expectSetAside(_ content: String) async throws {
        let favourites = try Favourites(url)
        for number in 1...2 {
            try folder.write(content.utf8, to: "favourites.json")
            let aside = "\(path).damaged-\(number)"
            let error = await error { try await favourites.add("a") }
            #expect(error?.kind == .damaged(keptAs: URL(filePath: aside)))
            #expect(error?.description.contains("did not hold favourites") == true && error?.description.contains(aside) == true)
            #expect(try contents(ofFile: aside) == Array(content.utf8))
            #expect(try await favourites.all == [])
            #expect(try await favourites.add("a"))
        }
    }

    @Test func `a reader that hears of changes leaves a damaged file as it is`() async throws {
        let favourites = try Favourites(url)
        var changes = favourites.changes(every: .milliseconds(1)).makeAsyncIterator()
        #expect(await changes.next() == [])
        try folder.write("nonsense".utf8, to: "favourites.json")
        let error = await error { _ = try await favourites.all }
        #expect(error?.kind == .damaged(keptAs: URL(filePath: path + ".damaged-1")))
    }

    @Test func `a file of another version is set aside`() async throws {
        let content = Array(#"{"version":2,"favourites":[]}"#.utf8)
        try folder.write(content, to: "favourites.json")
        let error = await error { try await Favourites(url).add("a") }
        #expect(error?.kind == .damaged(keptAs: URL(filePath: path + ".damaged-1")))
        #expect(try contents(ofFile: path + ".damaged-1") == content)
    }

    @Test func `the number of favourites and the size of their file have a bound`() async throws {
        let few = try Favourites(url, limit: 2)
        try await few.add("a")
        try await few.add("b")
        let error = await error { try await few.add("c") }
        #expect(error?.kind == .full && error?.description.contains("2 favourites") == true)
        #expect(try await few.all.count == 2)
        try await few.remove("a")
        try await few.add("c")
        #expect(try await few.all.map(\.id) == ["b", "c"])
        let file = FavouritesFile(path: path, mostFavourites: 10, mostBytes: 200, lockWait: .seconds(10))
        let long = await self.error { try await Favourites(file).add(String(repeating: "x", count: 100)) }
        #expect(long?.kind == .full && long?.description.hasSuffix("Remove some first.") == true)
        #expect(try await few.all.map(\.id) == ["b", "c"])
    }

    @Test func `a favourite that is too large by itself is told how large it may be, and one of that size is taken`() async throws {
        let favourites = try Favourites(url)
        let error = await error { try await favourites.add(String(repeating: "\n", count: 4_000_000)) }
        #expect(error?.kind == .tooLarge && error?.file.path == path)
        let sentence = try #require(error?.description)
        #expect(sentence.hasPrefix("This favourite is too large for '\(path)': its id may take "))
        #expect(sentence.hasSuffix(" bytes there. Give it a shorter id."))
        let most = try #require(Int(sentence.split(separator: " ").first { Int($0) != nil } ?? ""))
        #expect(await self.error { try await favourites.add(String(repeating: "x", count: most + 1)) }?.description == sentence)
        // A line break takes two bytes in the file.
        try await favourites.add(String(repeating: "x", count: most - 2) + "\n")
        #expect(try await favourites.all.count == 1)
        #expect(await self.error { try await favourites.add("y") }?.kind == .full)
    }

    @Test(arguments: [("https://example.com/favourites.json", 10), ("favourites.json", 10), ("file:///favourites.json", -1)])
    func `a URL that is no file URL is refused, and so is a negative limit`(_ text: String, limit: Int) throws {
        let url = try #require(URL(string: text))
        #expect(throws: InvalidOptions.self) { try Favourites(url, limit: limit) }
    }

    @Test func `a process that holds the lock for too long is an error, and no deadlock`() async throws {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        let favourites = Favourites(
            FavouritesFile(path: path, mostFavourites: 10, mostBytes: 1000, lockWait: .milliseconds(20)))
        let error = await error { try await favourites.add("a") }
        #expect(error?.kind == .busy)
        // Reading needs no lock.
        #expect(try await favourites.all == [])
        close(lock)
        #expect(try await favourites.add("a"))
    }

    @Test func `the system's refusals are named`() async throws {
        let nowhere = await error { try await Favourites(URL(filePath: "/nowhere/at/all")).add("a") }
        #expect(nowhere?.kind == .system(ENOENT))
        let isFolder = await error { _ = try await Favourites(URL(filePath: folder.path)).all }
        #expect(isFolder?.kind == .system(EINVAL))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
        let link = await error { try await Favourites(url).add("a") }
        #expect(link?.kind == .system(ELOOP) && link?.description.contains("symbolic link") == true)
    }

    @Test func `the leftover of a killed writer is removed`() async throws {
        try folder.write("half".utf8, to: "favourites.json.new")
        let favourites = try Favourites(url)
        try await favourites.remove("nothing")
        #expect(try folder.files == ["favourites.json.lock"])
    }

    private func mode(_ path: String) -> mode_t? {
        var found = stat()
        return stat(path, &found) == 0 ? found.st_mode & 0o777 : nil
    }

    @Test func `only the owner may read the file, also where others could before`() async throws {
        let favourites = try Favourites(url)
        try await favourites.add("a")
        #expect(mode(path) == 0o600)
        #expect(mode(path + ".lock") == 0o600)
        chmod(path, 0o666)
        try await favourites.add("b")
        #expect(mode(path) == 0o600)
        try folder.write("nonsense".utf8, to: "favourites.json")
        chmod(path, 0o644)
        let error = await error { try await favourites.add("c") }
        #expect(error?.kind == .damaged(keptAs: URL(filePath: path + ".damaged-1")))
        #expect(mode(path + ".damaged-1") == 0o600)
    }
}
