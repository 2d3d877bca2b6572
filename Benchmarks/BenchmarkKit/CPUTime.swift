import Glibc

/// Processor time used by this process, or by its children that have ended and been waited for.
package func cpuTime(ofChildren: Bool = false) -> Duration {
    var usage = rusage()
    getrusage(ofChildren ? -1 : 0, &usage)
    return .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
}

/// The most memory this process ever had, in bytes.
package func peakMemory() -> Int {
    var usage = rusage()
    getrusage(0, &usage)
    return usage.ru_maxrss * 1024
}

/// The memory this process has now, in bytes; zero where the system does not tell.
package func residentMemory() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let pages = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    return pages.count > 1 ? (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
}

extension [Double] {
    package var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
