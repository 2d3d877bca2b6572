import Testing

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
    ]

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
