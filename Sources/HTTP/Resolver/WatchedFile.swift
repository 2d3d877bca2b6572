internal import GannetBase

/// A small text file that is read again when it has changed.
struct WatchedFile {
    private struct Identity: Hashable {
        let device: UInt64, inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int
    }

    /// The rest of a longer file is not read.
    private static let maximumSize = 4 << 20

    let path: String
    /// The time between two looks at the file.
    private let interval: Duration
    private var nextLook: ContinuousClock.Instant?
    private var identity: Identity?

    init(_ path: String, interval: Duration) {
        self.path = path
        self.interval = interval
    }

    /// The file's text when it is new or has changed since the last call; empty for one that is gone. Nil when there is nothing new.
    mutating func change(at now: ContinuousClock.Instant) -> String? {
        if let nextLook, now < nextLook { return nil }
        let isFirst = nextLook == nil
        nextLook = now + interval
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            // Without a descriptor to look with, the file counts as unchanged.
            if !isFirst, SystemLimit.isShortage(errno) { return nil }
            defer { identity = nil }
            return identity != nil || isFirst ? "" : nil
        }
        defer { close(file) }
        let current = Self.identity(of: file)
        guard isFirst || current != identity else { return nil }
        identity = current
        return Self.contents(of: file)
    }

    private static func identity(of file: Int32) -> Identity? {
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        let time = status.modification
        return Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    private static func contents(of file: Int32) -> String {
        String(decoding: Descriptor.contents(of: file, atMost: maximumSize) ?? [], as: UTF8.self)
    }
}

/// The names of `/etc/hosts`, read once, and again when the file has changed.
struct HostsFile {
    private var file: WatchedFile
    private var addresses: [String: [IPAddress]] = [:]

    init(_ path: String) {
        file = WatchedFile(path, interval: .seconds(1))
    }

    /// The addresses of a name in lower case without a dot at its end, if the file has it.
    mutating func addresses(of name: String, at now: ContinuousClock.Instant) -> [IPAddress]? {
        if let text = file.change(at: now) { addresses = Self.parse(text) }
        return addresses[name]
    }

    private static func parse(_ text: String) -> [String: [IPAddress]] {
        var result: [String: [IPAddress]] = [:]
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
            guard words.count > 1, let address = IPAddress(Substring(words[0])) else { continue }
            for word in words.dropFirst() {
                let name = String(Substring(word)).lowercased()
                if result[name, default: []].count < ResolverOptions.maximumAddresses, result[name]?.contains(address) != true {
                    result[name, default: []].append(address)
                }
            }
        }
        return result
    }
}
