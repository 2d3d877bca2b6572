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

    /// The processor time of a process and of all its children, those that have ended too. A child that ends while this reads moves from one sum
    /// to the other. Then both sums are read again.
    static func cpuTimeWithChildren(of pid: Int32) throws -> Duration {
        while true {
            let ended = try cpuTimeOfEndedChildren(of: pid)
            let living = try children(of: pid).map { (try? cpuTime(of: $0)) ?? .zero }.reduce(.zero, +)
            guard try cpuTimeOfEndedChildren(of: pid) == ended else { continue }
            return try cpuTime(of: pid) + ended + living
        }
    }

    /// The memory that each of its children has now, in bytes.
    static func residentMemoryOfChildren(of pid: Int32) throws -> [Int] { try children(of: pid).compactMap { try? residentMemory(of: $0) } }

    /// Each thread has a list of its own.
    private static func children(of pid: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").flatMap { thread in
            let text = try? contents(ofFile: "/proc/\(pid)/task/\(thread)/children")
            return String(decoding: text ?? [], as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
    }

    /// The processor time of its children that have ended and that it has waited for, in ticks of the system's clock.
    private static func cpuTimeOfEndedChildren(of pid: Int32) throws -> Duration {
        let text = String(decoding: try contents(ofFile: "/proc/\(pid)/stat"), as: UTF8.self)
        // Behind the name, which may hold anything, stand the state and numbers. proc(5) calls two of them cutime and cstime.
        let words = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ").dropFirst()
        let ticks = words.dropFirst(13).prefix(2).compactMap { Int($0) }
        guard ticks.count == 2 else { throw KitError("the process \(pid) has ended") }
        return .seconds(1) * (ticks[0] + ticks[1]) / sysconf(Int32(_SC_CLK_TCK))
    }

    /// The memory that it has now, in bytes.
    static func residentMemory(of pid: Int32) throws -> Int {
        let line = String(decoding: try contents(ofFile: "/proc/\(pid)/statm"), as: UTF8.self)
        let pages = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let pages else { throw KitError("the process \(pid) has ended") }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
