/// A request to an `EvilOrigin`, and what its answer may depend on.
struct EvilRequest {
    /// All lines, with the empty one.
    let head: [UInt8]
    /// The path and query as sent.
    let target: String
    /// Counted from 1.
    let numberOnConnection: Int
    let plainPort: UInt16
    private let securePort: UInt16

    init(head: [UInt8], numberOnConnection: Int, _ doors: EvilDoors) {
        self.head = head
        self.numberOnConnection = numberOnConnection
        plainPort = doors.plainPort
        securePort = doors.securePort
        let line = head.prefix { $0 != 0x0d && $0 != 0x0a }
        let rest = line.drop { $0 != 0x20 }.dropFirst()
        // A target may itself hold a blank, if a client lets it.
        target = String(decoding: rest.lastIndex(of: 0x20).map { rest[..<$0] } ?? rest, as: UTF8.self)
    }

    func plainURL(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(plainPort)\(path)" }

    func secureURL(_ path: String) -> String { "https://127.0.0.1:\(securePort)\(path)" }
}
