/// A reply of Redis as the kit's own small client reads it, independent of the client under test.
package indirect enum RedisAnswer: Equatable, Sendable {
    case text(String)
    case integer(Int)
    case null
    case error(String)
    case list([RedisAnswer])

    /// The text, an integer as text; nil for everything else.
    package var text: String? {
        switch self {
        case .text(let text): text
        case .integer(let integer): String(integer)
        case .null, .error, .list: nil
        }
    }
}

/// Commands on a connection of their own.
enum RedisCall {
    static func make(_ arguments: [String], to address: ServerAddress) throws(KitError) -> RedisAnswer {
        let descriptor = try Socket.connect(to: address)
        defer { closeSocket(descriptor) }
        try Socket.sendAll(Array(encoded(arguments).utf8), to: descriptor)
        var reader = Reader(descriptor: descriptor)
        return try reader.answer()
    }

    /// Sends all commands at once. The bytes of all answers come back, without a look into them.
    static func transcript(_ commands: [[String]], to address: ServerAddress) throws(KitError) -> [UInt8] {
        let descriptor = try Socket.connect(to: address)
        defer { closeSocket(descriptor) }
        let mark = "the end of \(UInt64.random(in: .min ... .max))"
        let end = Array("$\(mark.utf8.count)\r\n\(mark)\r\n".utf8)
        try Socket.sendAll(Array((commands + [["ECHO", mark]]).map(encoded).joined().utf8), to: descriptor)
        var bytes: [UInt8] = []
        while !bytes.suffix(end.count).elementsEqual(end) {
            let more = try Socket.receive(from: descriptor)
            guard !more.isEmpty else { throw KitError("Redis closed the connection before it had answered") }
            bytes += more
        }
        return bytes.dropLast(end.count)
    }

    private static func encoded(_ arguments: [String]) -> String {
        "*\(arguments.count)\r\n" + arguments.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    }

    private struct Reader {
        let descriptor: Int32
        var bytes: ArraySlice<UInt8> = []

        mutating func answer() throws(KitError) -> RedisAnswer {
            let line = try line()
            let value = String(line.dropFirst())
            switch line.first {
            case "+": return .text(value)
            case "-": return .error(value)
            case ":": return .integer(Int(value) ?? 0)
            case "$":
                guard let count = Int(value), count >= 0 else { return .null }
                while bytes.count < count + 2 { try readMore() }
                defer { bytes = bytes.dropFirst(count + 2) }
                return .text(String(decoding: bytes.prefix(count), as: UTF8.self))
            case "*":
                guard let count = Int(value), count >= 0 else { return .null }
                var list: [RedisAnswer] = []
                for _ in 0..<count { list.append(try answer()) }
                return .list(list)
            default: throw KitError("not a reply of Redis: \(line)")
            }
        }

        private mutating func line() throws(KitError) -> String {
            while true {
                if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { bytes = bytes[(end + 1)...] }
                    return String(decoding: bytes[..<end].dropLast(), as: UTF8.self)
                }
                try readMore()
            }
        }

        private mutating func readMore() throws(KitError) {
            let more = try Socket.receive(from: descriptor)
            guard !more.isEmpty else { throw KitError("Redis closed the connection before it had answered") }
            bytes += more
        }
    }
}
