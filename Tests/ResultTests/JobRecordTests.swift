import Testing
import ThumbnailMessages
import Thumbnails

@testable import BodyStores
@testable import ClusterState

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
    ]

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
        for (first, second) in [(longer, longer), (longer, line), (line, longer)] {
            for count in 1..<first.count { #expect(Self.read(Array(first.prefix(count) + second)) == nil, "\(count)") }
        }
        #expect(Self.read(line.map { $0 == UInt8(ascii: "0") ? 0 : $0 }) == nil)
    }
}
