import GannetBase
import Glibc
import Testing

@Suite(.timeLimit(.minutes(3))) struct TaskThreadTests {
    private let thread = TaskThread(name: "test-jobs")

    @Test func `all tasks run on one thread, also after it has slept`() async {
        var threads: Set<UInt> = []
        for _ in 0..<50 {
            // The thread has nothing to do between the rounds, so it sleeps before most of them.
            let seen = await withTaskGroup(of: UInt.self) { group in
                for _ in 0..<20 { group.addTask(executorPreference: thread) { Self.current } }
                return await group.reduce(into: Set<UInt>()) { $0.insert($1) }
            }
            threads.formUnion(seen)
        }
        #expect(threads.count == 1)
        #expect(!threads.contains(Self.current))
    }

    @Test func `tasks from many threads all run, and the tasks of one maker run in their order`() async {
        let orders = await withTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let order = Order()
                    let tasks = (0..<500).map { number in
                        Task(executorPreference: thread) { order.numbers.withLock { $0.append(number) } }
                    }
                    for task in tasks { await task.value }
                    return order.numbers.withLock { $0 }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(orders == Array(repeating: Array(0..<500), count: 8))
    }

    private final class Order: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    private static var current: UInt { UInt(pthread_self()) }
}
