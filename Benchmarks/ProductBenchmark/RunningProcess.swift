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

    /// The memory that it has now, in bytes.
    static func residentMemory(of pid: Int32) throws -> Int {
        let line = String(decoding: try contents(ofFile: "/proc/\(pid)/statm"), as: UTF8.self)
        let pages = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let pages else { throw KitError("the process \(pid) has ended") }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// How many files and connections it has open.
    static func descriptors(of pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
#endif
