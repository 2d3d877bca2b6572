#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The calling thread's locale.
enum ThreadLocale {
    /// Runs the body with UTF-8 as the thread's encoding; where the system has no such locale, as things are.
    ///
    /// The process's locale is left alone: it belongs to the program that uses this library.
    static func withUTF8<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard let locale = utf8.locale else { return try body() }
        let before = uselocale(locale)
        defer { uselocale(before) }
        return try body()
    }

    /// Made once: it takes the system longer than all else that a URL costs.
    private static let utf8 = Shared(locale: newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) ?? newlocale(LC_CTYPE_MASK, "en_US.UTF-8", nil))

    /// Threads may share a locale that nobody changes or frees.
    private struct Shared: @unchecked Sendable {
        let locale: locale_t?
    }
}
