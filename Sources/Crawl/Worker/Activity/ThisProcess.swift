internal import GannetBase

/// The machine and the number of this process, for people who look for it.
enum ThisProcess {
    static let id = Int(getpid())

    /// The name that the machine itself has. No name server is asked.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
