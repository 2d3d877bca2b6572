#if canImport(Glibc)
import Foundation
import GannetTestKit

/// A process that has not ended, as the kernel sees it.
enum RunningProcess {
    /// The processor time of its threads, to the nanosecond. A thread that has ended is not among them.
    static func cpuTime(of pid: Int32) throws -> Duration {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        var sum = 0
        for thread in threads {
            guard let line = try? contents(ofFile: "/proc/\(pid)/task/\(thread)/schedstat") else { continue }
            sum += String(decoding: line, as: UTF8.self).split(separator: " ").first.flatMap { Int($0) } ?? 0
        }
        return .nanoseconds(sum)
    }
}
#endif
