#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension Moment {
    /// By this machine's clock.
    package static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Moment(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
