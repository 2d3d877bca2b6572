internal import GannetBase

/// The system's figures about this process, under the names that Prometheus' own clients use.
package struct ProcessFigures: Sendable {
    var processorSeconds: Double?
    var residentBytes: Int?
    var virtualBytes: Int?
    var openDescriptors: Int?
    var mostDescriptors: Int?
    /// Since 1970.
    var startSeconds: Double?

    package static var current: ProcessFigures {
        var figures = ProcessFigures()
        var used = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 {
            figures.processorSeconds = Double(used.tv_sec) + Double(used.tv_nsec) / 1_000_000_000
        }
        figures.mostDescriptors = descriptorLimit
        figures.readProc()
        return figures
    }

    private static var descriptorLimit: Int? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }

    /// Linux alone tells more.
    private mutating func readProc() {
        guard let line = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8), let name = line.lastIndex(of: ")") else { return }
        // From the third field on: the second is the program's name, which may have blanks in it.
        let fields = line[name...].split(separator: " ").dropFirst().map(String.init)
        let page = sysconf(Int32(_SC_PAGESIZE))
        let tick = sysconf(Int32(_SC_CLK_TCK))
        if fields.count > 21 {
            virtualBytes = Int(fields[20])
            residentBytes = Int(fields[21]).map { $0 * page }
            if let started = Double(fields[19]), tick > 0, let boot = Self.bootSeconds { startSeconds = boot + started / Double(tick) }
        }
        openDescriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
    }

    private static let bootSeconds: Double? = {
        let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8)
        return text?.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst("btime ".count)) }
    }()
}

extension MetricsText {
    package mutating func add(_ process: ProcessFigures) {
        add("process_cpu_seconds_total", .counter, "Processor time used, in seconds.", process.processorSeconds)
        add("process_resident_memory_bytes", .gauge, "Memory in use.", process.residentBytes)
        add("process_virtual_memory_bytes", .gauge, "Address space in use.", process.virtualBytes)
        add("process_open_fds", .gauge, "Open file descriptors.", process.openDescriptors)
        add("process_max_fds", .gauge, "The most file descriptors that may be open.", process.mostDescriptors)
        add("process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.", process.startSeconds)
    }
}
