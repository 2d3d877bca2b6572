import GannetBase
import GannetQueue

/// Things as they lie in Redis, for the beginnings of inputs.
enum StateSamples {
    static var content: OutcomeContent {
        var content = OutcomeContent(url: "https://example.com/a")
        content.digest = Array(1...32)
        (content.status, content.kind, content.size) = (200, 1, 12_345)
        content.fields = [.contentType: "text/html", .entityTag: "\"1\"", .errorClass: "http-404"]
        content.facts = [1, 2] + Array(1...32) + Array("https://example.com/a".utf8) + [3] + Array("text/html".utf8)
        return content
    }

    static func outcome(flags: UInt8) -> [UInt8] {
        var bytes: [UInt8] = [1, flags] + Array(0..<16)
        bytes.append(number: 1_800_000_000_000, count: 6)
        bytes.append(number: 250, count: 4)
        bytes.append(number: 60, count: 4)
        return bytes + content.bytes
    }

    /// A field of bytes that are no text takes three times as many as text, and more than are kept.
    static var longOutcome: [UInt8] {
        var content = OutcomeContent(url: "h")
        content.fields = [.errorMessage: String(repeating: "~", count: 1500)]
        return outcome(flags: 1).dropLast(Self.content.bytes.count) + content.bytes.map { $0 == UInt8(ascii: "~") ? 0xff : $0 }
    }

    static func lock(_ kind: UInt8) -> [UInt8] {
        var bytes: [UInt8] = [kind] + Array(0..<16)
        for (number, count) in [(1_800_000_000_000, 6), (1_800_000_060_000, 6), (1, 1), (2, 1), (8, 1), (0, 6)] {
            bytes.append(number: number, count: count)
        }
        let extras: [UInt8] = [1, UInt8(ascii: "q"), 0, 2, 5, 5] + Array("q".utf8) + [2] + Array("2q".utf8) + Array("c".utf8) + [1, 0x63]
        bytes.append(number: extras.count, count: 2)
        return bytes + extras + block
    }

    static var worker: WorkerRecord {
        WorkerRecord(
            machine: "m", processID: 7, version: "1.0", concurrency: 64, active: 3, isStopping: false, interval: .seconds(5),
            hosts: [HostLoad(name: "h", running: 1, longest: .seconds(1), finished: 3, failed: 1, average: .milliseconds(40))],
            hostLimit: 8, age: .seconds(90), ended: 9, partitions: [0, 3],
            patience: WaitPatience(silence: .seconds(900), rests: .zero), lease: .seconds(30))
    }

    /// Blocks of one job and of several.
    static var blocks: [[UInt8]] {
        let urls = ["http://example.com/", "http://example.com/b", "https://example.com/c", "http://u@example.com:8080/é"]
        return [largeBlock] + Block.pack(urls.enumerated().compactMap { entry(UInt8($0), $1) }, batch: 7, hasHeaders: true)
    }

    /// A block of more jobs than are packed together.
    private static var largeBlock: [UInt8] {
        var bytes: [UInt8] = [0x44, 0, 0, 0, 7, 0, 0, 0, 0, 0, 1, UInt8(ascii: "h"), 70]
        for number in 0..<70 { bytes += [0, 17] + Array(repeating: UInt8(number), count: 16) + [UInt8(ascii: "/")] }
        return bytes
    }

    static let block = Block.pack([entry(1, "http://example.com/")].compactMap { $0 }, batch: 7, hasHeaders: false).first ?? []

    private static func entry(_ number: UInt8, _ url: String) -> JobEntry? {
        URLID(Array(repeating: number, count: 16)).flatMap { try? JobEntry(id: $0, host: "example.com", url: url) }
    }
}
