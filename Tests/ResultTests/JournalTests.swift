import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP
@testable import GannetQueue
@testable import Results

@Suite struct JournalTests {
    private static func record(_ number: Int, bytes: Int = 0) -> JobRecord {
        var record = JobRecord(URLID(Array(SHA256Digest(of: "\(number)".utf8).bytes.prefix(16)))!)
        record.bytes = bytes
        record.file = "file \(number)"
        return record
    }

    private static func found(_ number: Int, in journal: Journal) throws -> JobRecord? {
        try journal.record(of: record(number).id)
    }

    @Test func `the next run finds the latest record of each URL, and knows which are its own`() throws {
        let folder = try TemporaryFolder()
        do {
            let journal = try Journal(in: folder.path)
            for number in 0..<3000 { #expect(try journal.append(Self.record(number))) }
            #expect(try !journal.append(Self.record(5, bytes: 9)))
        }
        let journal = try Journal(in: folder.path)
        for number in 0..<3000 { #expect(try Self.found(number, in: journal) == Self.record(number, bytes: number == 5 ? 9 : 0)) }
        #expect(try Self.found(3000, in: journal) == nil)
        #expect(journal[Self.record(6).id]?.marks == [])
        var failed = Self.record(6)
        failed.isFailed = true
        #expect(try journal.append(failed))
        #expect(journal[failed.id]?.marks == [.current, .failed])
        #expect(try Self.found(6, in: journal) == failed)
    }

    @Test func `an unfinished line of a killed run is cut off, and no other record is lost`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file(Journal.name)
        _ = try Journal(in: folder.path).append(Self.record(1))
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let next = Data(Self.record(2).line)
        for count in 0..<next.count {
            try (whole + next.prefix(count)).write(to: URL(fileURLWithPath: path))
            let journal = try Journal(in: folder.path)
            #expect(try Self.found(2, in: journal) == nil)
            _ = try journal.append(Self.record(3))
            let again = try Journal(in: folder.path)
            #expect(try Self.found(1, in: again) == Self.record(1))
            #expect(try Self.found(3, in: again) == Self.record(3))
        }
    }

    @Test func `a line that is not a record is skipped, however long it is`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file(Journal.name)
        _ = try Journal(in: folder.path).append(Self.record(1))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        for length in [0, 1, 34, 300_000, 262_144, 262_143] { try file.write(contentsOf: Data(repeating: 0, count: length) + [0x0a]) }
        try file.close()
        let journal = try Journal(in: folder.path)
        _ = try journal.append(Self.record(2))
        let again = try Journal(in: folder.path)
        #expect(try Self.found(1, in: again) == Self.record(1))
        #expect(try Self.found(2, in: again) == Self.record(2))
    }

    @Test func `a journal with mostly superseded records is compacted`() throws {
        let folder = try TemporaryFolder()
        do {
            let journal = try Journal(in: folder.path)
            for number in 0..<300 { _ = try journal.append(Self.record(number % 100, bytes: number)) }
        }
        let size = { try #require(try FileManager.default.attributesOfItem(atPath: folder.file(Journal.name))[.size] as? Int) }
        let before = try size()
        _ = try Journal(in: folder.path)
        #expect(try size() == before)
        let journal = try Journal(in: folder.path, compactingFrom: 1)
        #expect(try size() < before / 2)
        for number in 0..<100 { #expect(try Self.found(number, in: journal) == Self.record(number, bytes: 200 + number)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [Journal.name])
    }

    @Test func `a file of another kind is left alone`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("something else altogether\n".utf8), to: Journal.name)
        #expect(throws: StorageFailure.self) { try Journal(in: folder.path) }
        #expect(try String(contentsOfFile: folder.file(Journal.name), encoding: .utf8) == "something else altogether\n")
    }

    @Test func `the table finds 180,000 URLs again, grows into a file, and leaves none behind`() throws {
        let folder = try TemporaryFolder()
        let table = try URLTable(in: folder.path, expecting: 0)
        for number in 0..<180_000 { try table.update(Self.record(number).id) { $0.offset = number + 1 } }
        #expect(table.count == 180_000)
        for number in 0..<180_000 where table[Self.record(number).id]?.offset != number + 1 { Issue.record("\(number)") }
        #expect(table[Self.record(180_000).id] == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
