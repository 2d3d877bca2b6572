internal import GannetBase

/// The memory of this machine, or of the smallest control group around this process.
struct MemoryRoom: Sendable, Equatable {
    /// In bytes, with memory that the kernel would free for it.
    let left: Int
    let all: Int

    /// A request under TLS takes less, with its connection, another one that is idle, and a body of the usual size.
    static let ofPlace = 128 << 10

    /// The requests in flight for which half of it suffices.
    var mostPlaces: Int { isTight ? 0 : all / 2 / Self.ofPlace }

    /// Too little is left for more requests, or for as many as there are.
    private var isTight: Bool { left < min(all / 8, 512 << 20) }
    var isShort: Bool { left < min(all / 16, 256 << 20) }

    /// `nil` where the system does not tell.
    static var now: MemoryRoom? { read(under: "") }

    /// - Parameter root: The folder that has `proc` and `sys`.
    static func read(under root: String) -> MemoryRoom? {
        func numbers(_ path: String) -> [Substring: Int] {
            let text = (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? ""
            var found: [Substring: Int] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count > 1 { found[words[0]] = Int(words[1]) } else { found[""] = Int(line) }
            }
            return found
        }
        let machine = numbers("/proc/meminfo")
        guard let all = machine["MemTotal:"], let left = machine["MemAvailable:"] else { return nil }
        var least = MemoryRoom(left: left << 10, all: all << 10)
        let groups = (try? String(contentsOfFile: root + "/proc/self/cgroup", encoding: .utf8)) ?? ""
        for line in groups.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].isEmpty || parts[1] == "memory" else { continue }
            let (folder, most, used, cache) =
                parts[1].isEmpty
                ? ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
                : ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            // A group has the bounds of all groups around it. In a container the path may be that of the host, which is not there.
            var names = parts[2].split(separator: "/")
            while true {
                let group = ([Substring(folder)] + names).joined(separator: "/")
                // A group without a bound has the largest number there is.
                if let most = numbers("\(group)/\(most)")[""], most < all << 10, let used = numbers("\(group)/\(used)")[""] {
                    let room = MemoryRoom(left: most - used + (numbers("\(group)/memory.stat")[Substring(cache)] ?? 0), all: most)
                    if room.left < least.left { least = room }
                }
                if names.popLast() == nil { break }
            }
        }
        return least
    }
}
