internal import COpenSSL

/// A command and its arguments.
package struct RedisCommand: Sendable {
    package let arguments: [RedisArgument]

    /// The script that this `EVALSHA` calls. Its source is sent to a server that does not have it.
    let script: RedisScript?

    /// For example `RedisCommand("SET", "key", .bytes(body))`.
    package init(_ arguments: RedisArgument...) {
        self.init(arguments)
    }

    /// - Parameter arguments: The first one is the command's name.
    package init(_ arguments: [RedisArgument]) {
        precondition(!arguments.isEmpty, "A Redis command has at least a name.")
        self.arguments = arguments
        self.script = nil
    }

    /// A call of `script` with its `KEYS` and `ARGV`.
    package init(script: RedisScript, keys: [RedisArgument], arguments: [RedisArgument] = []) {
        self.arguments = ["EVALSHA", .string(script.digest), .integer(keys.count)] + keys + arguments
        self.script = script
    }

    /// The same call with the script's source. The server remembers the source.
    var withSource: RedisCommand? {
        guard let script else { return nil }
        var words = arguments
        words[0] = "EVAL"
        words[1] = .string(script.source)
        return RedisCommand(words)
    }

    /// The size of the arguments, without their lengths and line ends.
    var payloadByteCount: Int {
        arguments.reduce(0) { $0 + $1.byteCount }
    }
}

extension RedisCommand: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the command's name, because arguments may be secrets or bodies.
    package var description: String {
        if case .string(let name) = arguments[0] { name } else { "command" }
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A binary-safe argument of a command. Large arguments share the caller's storage until they are written.
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
    /// The number of bytes on the wire.
    var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .integer(let number): DecimalDigits.count(of: number)
        }
    }
}

extension RedisArgument: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the size, because an argument may be a secret or a body.
    package var description: String { "\(byteCount) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A Lua script and its digest.
///
/// It is called with `EVALSHA`. A server that has lost it, after a restart, a failover or `SCRIPT FLUSH`, gets the source instead. The caller does
/// not notice.
package struct RedisScript: Sendable {
    package let source: String

    /// SHA-1 of the source in lower-case hexadecimal, as `EVALSHA` takes it.
    package let digest: String

    package init(_ source: String) {
        self.source = source
        self.digest = Self.digest(of: source)
    }

    private static func digest(of source: String) -> String {
        var source = source
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let succeeded = source.withUTF8 { EVP_Digest($0.baseAddress, $0.count, &bytes, &count, EVP_sha1(), nil) }
        precondition(succeeded == 1, "libcrypto refused to compute a SHA-1 digest, which EVALSHA needs.")
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes[..<Int(count)].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
