internal import GannetBasics

/// Who this process is to people who look for it.
enum ThisProcess {
    static let id = Int(getpid())

    /// The machine's own name, as it calls itself: nobody else is asked.
    static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
