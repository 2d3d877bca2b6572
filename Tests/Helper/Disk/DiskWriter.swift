import GannetFetch
import GannetHTTP
import GannetTestKit
import Glibc

/// A process that uses a cache folder beside the tests, or measures one for a person.
///
///     helper disk records FOLDER LIMIT COUNT SIZE SEED   writes records of some SIZE bytes, COUNT of them; says `began` first, `ended` at last
///     helper disk half FOLDER                            writes half a temporary file there, says `half`, waits to be killed
///     helper disk look FOLDER LIMIT SEED                 says how long the first write, the first reads and looking at all take
enum DiskWriter: HelperJob {
    static func run(_ words: [String]) async throws {
        switch words.dropFirst().first {
        case "records" where words.count == 7:
            guard let limit = Int64(words[3]), let count = Int(words[4]), let size = Int(words[5]), let seed = UInt64(words[6]) else {
                break
            }
            return try await writeRecords(words[2], limit, count, size, seed)
        case "half" where words.count == 3:
            return try await writeHalf(words[2])
        case "look" where words.count == 5:
            guard let limit = Int64(words[3]), let seed = UInt64(words[4]) else { break }
            return try look(words[2], limit, seed)
        default: break
        }
        fatalError("A test starts this program, with what its first lines say.")
    }

    private static func writeRecords(_ folder: String, _ limit: Int64, _ count: Int, _ size: Int, _ seed: UInt64) async throws {
        let tier = try DiskTier(folder, limit: limit)
        say("began")
        let lanes = 4
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    for number in stride(from: lane, to: count, by: lanes) {
                        let (key, body) = record(number, size, seed)
                        // A write may fail. The test looks in the folder for broken files.
                        try? tier.write(key, metadata: Array("record \(number)".utf8), body: body)
                    }
                }
            }
        }
        say("ended \(tier.counts)")
    }

    private static func writeHalf(_ folder: String) async throws {
        let file = try BodyFile(lockedIn: OpenFolder(folder))
        [UInt8](repeating: 1, count: 100_000).withUnsafeBytes { bytes in
            do { try file.write(bytes) } catch { fatalError("\(error)") }
        }
        say("half")
        try await Task.sleep(for: .seconds(3600))
        withExtendedLifetime(file) {}
    }

    private static func look(_ folder: String, _ limit: Int64, _ seed: UInt64) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let tier = try DiskTier(folder, limit: limit, mostFiles: 10_000_000)
        say("opened after \(clock.now - start)")
        let (key, body) = record(-1, 1000, seed)
        _ = tier.read(key)
        say("first read after \(clock.now - start)")
        try tier.write(key, metadata: [], body: body)
        say("first write after \(clock.now - start)")
        var found = 0
        for number in 0..<1000 where tier.read(record(number, 1000, seed).key) != nil { found += 1 }
        say("1000 reads, of which \(found) found something, after \(clock.now - start)")
        try tier.tidy()
        say("looked at all after \(clock.now - start): \(tier.usage)")
    }

    /// The same record for the same numbers: its body repeats the seed and the number.
    private static func record(_ number: Int, _ size: Int, _ seed: UInt64) -> (key: CacheKey, body: [UInt8]) {
        let text = Array("\(seed) \(number)|".utf8)
        let key = CacheKey(id: Array(SHA256Digest(of: text).bytes.prefix(16)))
        let length = max(0, size / 2 + (number & 0xffff) * 7919 % max(1, size))
        return (key, Array(repeated(text, length / text.count + 1).prefix(length)))
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
