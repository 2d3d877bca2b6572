import GannetTestKit
import Testing

@testable import FetchCache

struct JobLinesTests {
    /// An object, so that an expectation can ask it.
    private final class Lines {
        private var lines: JobLines<Int>
        typealias Line = JobLines<Int>.Line

        init(threads: Int = 4, reads: Int = 100, writes: Int = 100, bytes: Int = 1000) {
            lines = JobLines(.init(threads: threads, reads: reads, writes: writes, bytes: bytes))
        }

        func add(_ job: Int, _ line: Line, bytes: Int = 0, mayBeRefused: Bool = true) -> JobLines<Int>.Place? {
            lines.add(job, to: line, bytes: bytes, mayBeRefused: mayBeRefused)
        }

        var hasNext: Bool { lines.hasNext }
        var isEmpty: Bool { lines.isEmpty }
        func next() -> Int? { lines.next()?.job }
        func ended(_ line: Line) { lines.ended(line) }
        func remove(_ place: JobLines<Int>.Place) -> Int? { lines.remove(place) }
        func removeAll() -> [Int] { lines.removeAll() }
    }

    @Test func `reads go before writes, and both before tidying`() {
        let lines = Lines()
        for (job, line) in [(1, .tidying), (2, .writes), (3, .reads), (4, .reads)] as [(Int, Lines.Line)] {
            #expect(lines.add(job, line) != nil)
        }
        #expect((0..<4).map { _ in lines.next() } == [3, 4, 2, 1])
        #expect(!lines.hasNext && lines.next() == nil)
    }

    @Test func `after sixteen reads a write has its turn`() {
        let lines = Lines()
        for job in 0..<40 { _ = lines.add(job, .reads) }
        for job in 100..<102 { _ = lines.add(job, .writes) }
        let order = (0..<36).compactMap { _ in lines.next() }
        #expect(order.firstIndex(of: 100) == 16 && order.firstIndex(of: 101) == 33)
    }

    @Test func `tidying has its turn after sixty-four jobs, one at a time`() {
        let lines = Lines()
        _ = lines.add(-1, .tidying)
        for job in 0..<100 { _ = lines.add(job, .reads) }
        let order = (0..<70).compactMap { _ in lines.next() }
        #expect(order.firstIndex(of: -1) == 64)

        _ = lines.add(-2, .tidying)
        let rest = (0..<100).compactMap { _ in lines.next() }
        #expect(!rest.contains(-2))
        lines.ended(.tidying)
        #expect(lines.next() == -2)
    }

    @Test(arguments: [(1, 1), (2, 1), (4, 3)]) func `writes leave a thread to the reads`(threads: Int, writers: Int) {
        let lines = Lines(threads: threads)
        for job in 0..<10 { _ = lines.add(job, .writes) }
        _ = lines.add(100, .tidying)
        for job in 0..<writers { #expect(lines.next() == job) }
        #expect(!lines.hasNext && lines.next() == nil)
        lines.ended(.writes)
        #expect(lines.next() == writers)
    }

    @Test func `too many, and too many bytes, are refused unless they must not be`() {
        let lines = Lines(reads: 2, writes: 2, bytes: 100)
        #expect(lines.add(1, .reads) != nil && lines.add(2, .reads) != nil)
        #expect(lines.add(3, .reads) == nil)
        #expect(lines.add(4, .reads, bytes: 0, mayBeRefused: false) != nil)

        // One that is larger than all together may be waits when it is alone.
        let large = lines.add(5, .writes, bytes: 1000)
        #expect(lines.add(6, .writes, bytes: 1) == nil)
        #expect(large.flatMap { lines.remove($0) } == 5)
        #expect(lines.add(7, .writes, bytes: 60) != nil && lines.add(8, .writes, bytes: 60) == nil)
        #expect(lines.add(9, .writes, bytes: 40) != nil && lines.add(10, .writes, bytes: 0) == nil)
        #expect(lines.add(11, .writes, bytes: 1000, mayBeRefused: false) != nil)

        #expect(lines.add(12, .tidying) != nil && lines.add(13, .tidying) == nil)
        #expect(lines.removeAll().sorted() == [1, 2, 4, 7, 9, 11, 12])
        #expect(lines.isEmpty && !lines.hasNext)
        #expect(lines.add(14, .writes, bytes: 100) != nil && lines.next() == 14)
    }

    @Test func `who has left is passed over, and cannot leave again`() {
        let lines = Lines()
        let places = (0..<5).compactMap { lines.add($0, .reads) }
        #expect([0, 2, 4].map { lines.remove(places[$0]) } == [0, 2, 4])
        #expect(lines.remove(places[2]) == nil)
        #expect(lines.next() == 1)
        #expect(lines.remove(places[1]) == nil)
        #expect(lines.next() == 3)
        #expect(lines.next() == nil)
    }
}
