import FoundationEssentials
import GannetFetch
import Glibc

/// A process that changes a file of favourites until it is killed. After each change it writes a line.
///
///     helper favourites FILE NAME
///
/// It adds `NAME-0`, `NAME-1`, `NAME-2` and so on. After each third one it removes the first of the three.
enum FavouritesWriter: HelperJob {
    static func run(_ words: [String]) async throws {
        guard words.count == 3 else { fatalError("A test starts this program, with what its first lines say.") }
        let favourites = try Favourites(URL(filePath: words[1]))
        for number in 0... {
            try await favourites.add("\(words[2])-\(number)")
            say("added \(number)")
            guard number % 3 == 2 else { continue }
            try await favourites.remove("\(words[2])-\(number - 2)")
            say("removed \(number - 2)")
        }
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
