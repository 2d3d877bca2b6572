#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

extension [Double] {
    package var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
