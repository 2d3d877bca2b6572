import GannetTestKit
import Testing

@testable import GannetFetch

struct JobQueuesTests {
    /// An object, because `#expect` cannot call mutating functions.
    private final class Queues {
        private var queues: JobQueues<Int>
        typealias Kind = JobQueues<Int>.Kind

        init(threads: Int = 4, reads: Int = 100, writes: Int = 100, bytes: Int = 1000) {
            queues = JobQueues(.init(threads: threads, reads: reads, writes: writes, bytes: bytes))
        }

        func add(_ job: Int, _ kind: Kind, bytes: Int = 0, mayBeRefused: Bool = true) -> JobQueues<Int>.Ticket? {
            queues.add(job, to: kind, bytes: bytes, mayBeRefused: mayBeRefused)
        }

        var hasNext: Bool { queues.hasNext }
        var isEmpty: Bool { queues.isEmpty }
        func next() -> Int? { queues.next()?.job }
        func ended(_ kind: Kind) { queues.ended(kind) }
        func remove(_ ticket: JobQueues<Int>.Ticket) -> Int? { queues.remove(ticket) }
        func removeAll() -> [Int] { queues.removeAll() }
    }

    @Test func `reads go before writes, and both before tidying`() {
        let queues = Queues()
        for (job, kind) in [(1, .tidying), (2, .writes), (3, .reads), (4, .reads)] as [(Int, Queues.Kind)] {
            #expect(queues.add(job, kind) != nil)
        }
        #expect((0..<4).map { _ in queues.next() } == [3, 4, 2, 1])
        #expect(!queues.hasNext && queues.next() == nil)
    }

    @Test func `after sixteen reads a write has its turn`() {
        let queues = Queues()
        for job in 0..<40 { _ = queues.add(job, .reads) }
        for job in 100..<102 { _ = queues.add(job, .writes) }
        let order = (0..<36).compactMap { _ in queues.next() }
        #expect(order.firstIndex(of: 100) == 16 && order.firstIndex(of: 101) == 33)
    }

    @Test func `tidying has its turn after sixty-four jobs, one at a time`() {
        let queues = Queues()
        _ = queues.add(-1, .tidying)
        for job in 0..<100 { _ = queues.add(job, .reads) }
        let order = (0..<70).compactMap { _ in queues.next() }
        #expect(order.firstIndex(of: -1) == 64)

        _ = queues.add(-2, .tidying)
        let rest = (0..<100).compactMap { _ in queues.next() }
        #expect(!rest.contains(-2))
        queues.ended(.tidying)
        #expect(queues.next() == -2)
    }

    @Test(arguments: [(1, 1), (2, 1), (4, 3)]) func `writes leave a thread to the reads`(threads: Int, writers: Int) {
        let queues = Queues(threads: threads)
        for job in 0..<10 { _ = queues.add(job, .writes) }
        _ = queues.add(100, .tidying)
        for job in 0..<writers { #expect(queues.next() == job) }
        #expect(!queues.hasNext && queues.next() == nil)
        queues.ended(.writes)
        #expect(queues.next() == writers)
    }

    @Test func `jobs are refused when too many wait or hold too many bytes, unless they must not be`() {
        let queues = Queues(reads: 2, writes: 2, bytes: 100)
        #expect(queues.add(1, .reads) != nil && queues.add(2, .reads) != nil)
        #expect(queues.add(3, .reads) == nil)
        #expect(queues.add(4, .reads, bytes: 0, mayBeRefused: false) != nil)

        // A write above the limit of all writes is taken when no other waits.
        let large = queues.add(5, .writes, bytes: 1000)
        #expect(queues.add(6, .writes, bytes: 1) == nil)
        #expect(large.flatMap { queues.remove($0) } == 5)
        #expect(queues.add(7, .writes, bytes: 60) != nil && queues.add(8, .writes, bytes: 60) == nil)
        #expect(queues.add(9, .writes, bytes: 40) != nil && queues.add(10, .writes, bytes: 0) == nil)
        #expect(queues.add(11, .writes, bytes: 1000, mayBeRefused: false) != nil)

        #expect(queues.add(12, .tidying) != nil && queues.add(13, .tidying) == nil)
        #expect(queues.removeAll().sorted() == [1, 2, 4, 7, 9, 11, 12])
        #expect(queues.isEmpty && !queues.hasNext)
        #expect(queues.add(14, .writes, bytes: 100) != nil && queues.next() == 14)
    }

    @Test func `a job that has left is skipped, and cannot leave again`() {
        let queues = Queues()
        let places = (0..<5).compactMap { queues.add($0, .reads) }
        #expect([0, 2, 4].map { queues.remove(places[$0]) } == [0, 2, 4])
        #expect(queues.remove(places[2]) == nil)
        #expect(queues.next() == 1)
        #expect(queues.remove(places[1]) == nil)
        #expect(queues.next() == 3)
        #expect(queues.next() == nil)
    }
}
