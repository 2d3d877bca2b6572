import GannetTestKit
import Glibc

/// This process' memory, as the kernel counts it.
enum ProcessMemory {
    #if THREAD_SANITIZER || ADDRESS_SANITIZER
    /// A sanitizer's own memory is many times that of the program.
    static let isMeaningful = false
    #else
    static let isMeaningful = true
    #endif

    /// In bytes, after the allocator has returned its unused memory.
    static func residentAfterTrim() throws -> Int {
        // glibc's module hides this function from Swift.
        if let trim = dlsym(nil, "malloc_trim") {
            _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
        }
        return try value("VmRSS:")
    }

    /// Sets the peak to the current size.
    static func resetPeak() throws {
        let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw KitError("cannot open /proc/self/clear_refs") }
        defer { close(file) }
        guard write(file, "5", 1) == 1 else { throw KitError("cannot reset the peak of the memory") }
    }

    /// The most in bytes since `resetPeak`.
    static func peak() throws -> Int { try value("VmHWM:") }

    private static func value(_ name: String) throws -> Int {
        let status = String(decoding: try contents(ofFile: "/proc/self/status"), as: UTF8.self)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw KitError("/proc/self/status has no \(name)") }
        return kibibytes << 10
    }
}
