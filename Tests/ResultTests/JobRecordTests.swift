import GannetPictures
import Testing

@testable import GannetQueue
@testable import Results

@Suite struct JobRecordTests {
    private static func record(_ change: (inout JobRecord) -> Void = { _ in }) -> JobRecord {
        var record = JobRecord(URLID(Array(0..<16))!)
        record.status = 200
        record.bytes = 12
        record.digest = Array(0..<32)
        record.milliseconds = 5
        record.file = "0a1/0a1-x.jpg"
        record.contentType = "image/jpeg"
        change(&record)
        return record
    }

    private static func read(_ line: [UInt8]) -> JobRecord? { line.withUnsafeBytes { JobRecord(line: $0) } }

    private static let records = [
        record(), record { $0.isFailed = true }, record { $0.digest = nil },
        record {
            $0.errorClass = "a\tb"
            $0.errorMessage = "two\nlines, a \\ and a \\n, a tab\t; ü"
        },
        record { $0.file = "\\" }, record { $0.url = "http://h/a\tb" },
        record { $0.picture = picture },
        record {
            $0.picture = picture
            $0.url = "http://h/"
        },
        long(), long { $0.picture = picture }, record { $0.lastDigest = Array(repeating: 7, count: 32) }, record { $0.checkedAt = 1 },
        record { $0.typeMismatch = "it looks like HTML" }, long { $0.typeMismatch = "it\tlooks" },
        record { $0.md5 = Array(0..<16) },
        long {
            $0.md5 = Array(0..<16)
            $0.typeMismatch = "it looks"
        },
        long {
            $0.isFailed = true
            $0[.entityTag] = "\"a\tb\\\""
        },
    ]

    /// With what an answer said.
    private static func long(_ change: (inout JobRecord) -> Void = { _ in }) -> JobRecord {
        record {
            $0.noteAnswer(at: 1_700_000_000_123, of: "http://h/", from: "http://h/b") { "\($0) of it" }
            $0.checkedAt = 1_700_000_000_456
            $0.lastDigest = Array(1...32)
            $0.staleness = .init(errorClass: "timeout", message: "Timed out\tat last.")
            change(&$0)
        }
    }

    @Test func `an index finds what a reader finds`() throws {
        for record in Self.records {
            let key = try #require(Array(record.line.dropLast()).withUnsafeBytes { JobRecord.key(of: $0) })
            #expect(key.id == record.id && key.isFailed == record.isFailed)
        }
    }

    @Test func `a long line with damaged times or without its end is no record, for its reader and for the index`() throws {
        let line = String(decoding: Self.long().line.dropLast(), as: UTF8.self)
        for (old, new) in [("1700000000123", "17x"), ("1700000000456", "-1"), ("0102030405", "01020304"), ("\t.", "\t"), ("\t.", "")] {
            let damaged = Array(line.replacing(old, with: new).utf8)
            #expect(damaged != Array(line.utf8) && Self.read(damaged) == nil, "\(old)")
            #expect(damaged.withUnsafeBytes { JobRecord.key(of: $0) } == nil, "\(old)")
        }
    }

    @Test func `a line with a damaged MD5 is no record`() throws {
        let line = String(decoding: Self.long { $0.md5 = Array(repeating: 0xab, count: 16) }.line.dropLast(), as: UTF8.self)
        for (old, new) in [("abab\t.", "ab\t."), ("abab\t.", "abax\t."), ("\t.", "\t\t.")] {
            let damaged = line.replacing(old, with: new)
            #expect(damaged != line && Self.read(Array(damaged.utf8)) == nil, "\(old)")
        }
    }

    @Test func `a tag that is too long, or is no text, is no fact, and a URL is one where it is not the asked one`() {
        func answered(_ value: String, from url: String = "http://h/") -> JobRecord {
            Self.record { $0.noteAnswer(at: 5, of: "http://h/", from: url) { _ in value } }
        }
        let told = answered("x")
        #expect(told[.entityTag] == "x" && told[.age] == "x" && told.hasConditions && told[.finalURL].isEmpty)
        for value in [String(repeating: "x", count: 513), "\u{fffd}", "a\u{7}b", "a\nb", ""] {
            #expect(answered(value).facts.isEmpty && !answered(value).hasConditions && answered(value).fetchedAt == 5)
        }
        #expect(answered("", from: "http://h/b")[.finalURL] == "http://h/b")
        #expect(answered("", from: "http://h/" + String(repeating: "b", count: 5000))[.finalURL].isEmpty)
    }

    private static let picture = StoredPicture(
        Thumbnail(format: .webp, size: PictureSize(256, 170), original: PictureSize(65_535, 1), bytes: [1, 2, 3]),
        digest: [UInt8](repeating: 0xa5, count: 32))

    @Test func `a line whose picture is damaged is no record`() throws {
        let line = String(decoding: Self.record { $0.picture = Self.picture }.line.dropLast(), as: UTF8.self)
        let changes = [
            ("webp ", "bmp "), (" 256 ", " 0 "), (" 170 ", " -1 "), ("a5a5a5a5", "a5a5a5"), (" 3 ", " 3  "), ("webp 256", "256"),
        ]
        for (old, new) in changes {
            let damaged = line.replacing(old, with: new)
            #expect(damaged != line && Self.read(Array(damaged.utf8)) == nil, "\(old)")
        }
    }

    @Test func `the file of a record has the bytes of the picture, where there is one`() throws {
        let body = Self.record()
        #expect(body.stored.bytes == 12 && body.stored.digest == body.digest && body.stored.contentType == "image/jpeg")
        let picture = Self.record { $0.picture = Self.picture }
        #expect(picture.stored.bytes == 3 && picture.stored.digest == Self.picture.digest && picture.stored.contentType == "image/webp")
    }

    @Test(arguments: records)
    func `a record is one line, and comes back from it`(record: JobRecord) {
        let line = record.line
        #expect(line.count { $0 == UInt8(ascii: "\n") } == 1 && line.last == UInt8(ascii: "\n"))
        #expect(Self.read(line.dropLast()) == record)
    }

    @Test func `a line with a number below zero, or larger than any body, is no record`() {
        let numbers: [WritableKeyPath<JobRecord, Int>] = [\.status, \.bytes, \.milliseconds]
        for number in numbers {
            for value in [-1, 1 << 53, Int.max] { #expect(Self.read(Self.record { $0[keyPath: number] = value }.line.dropLast()) == nil) }
        }
        #expect(Self.read(Self.record { $0.bytes = 1 << 53 - 1 }.line.dropLast())?.bytes == 1 << 53 - 1)
    }

    @Test(arguments: ["../x", "/etc/passwd", "a/../../x", "a//b", ".", "a/", "a\0"])
    func `a line whose file lies outside of the folder is no record`(file: String) {
        #expect(Self.read(Self.record { $0.file = file }.line.dropLast()) == nil)
    }

    @Test func `no part of a line is a record, nor are two that ran together`() {
        let line = Self.record().line.dropLast()
        for count in 0..<line.count where count < line.count - 40 { #expect(Self.read(Array(line.prefix(count))) == nil, "\(count)") }
        for count in 1..<line.count { #expect(Self.read(Array(line.prefix(count) + line)) == nil, "\(count)") }
        let longer = Self.record { $0.url = "http://h/" }.line.dropLast()
        let longest = Self.long().line.dropLast()
        let all = [line, longer, longest, Self.record { $0.picture = Self.picture }.line.dropLast()]
        for (first, second) in all.flatMap({ first in all.map { (first, $0) } }) {
            for count in 1..<first.count { #expect(Self.read(Array(first.prefix(count) + second)) == nil, "\(count)") }
        }
        #expect(Self.read(line.map { $0 == UInt8(ascii: "0") ? 0 : $0 }) == nil)
    }
}
