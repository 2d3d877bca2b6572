import Glibc

/// The machine in a few words.
package enum Machine {
    package static var description: String {
        let model = value(of: "model name", in: "/proc/cpuinfo") ?? "an unknown processor"
        let kilobytes = value(of: "MemTotal", in: "/proc/meminfo").flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        return "\(cores) cores of \(model), \(kilobytes / 1_000_000) GB"
    }

    /// How many threads run at once.
    package static var cores: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Lets this process, and programs that it starts from now on, have as many files and connections as the system allows.
    package static func raiseDescriptorLimit() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1_048_576)
        setrlimit(resource, &limit)
    }

    /// The first line `name : value` of a file of the kernel's.
    private static func value(of name: String, in path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let parts = text.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].trimmed == name { return parts[1].trimmed }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
