/// One binary-safe argument of a command. Bytes are shared with the caller until they are written, never copied per command
/// when they are large.
package enum RedisArgument: Sendable, Equatable {
    case string(String)
    case bytes([UInt8])
    case integer(Int)
}

extension RedisArgument: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
}

extension RedisArgument {
    /// How many bytes the argument's value has on the wire.
    var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .integer(let number): DecimalDigits.count(of: number)
        }
    }
}

extension RedisArgument: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The size alone: an argument may be a secret or a body.
    package var description: String { "\(byteCount) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
