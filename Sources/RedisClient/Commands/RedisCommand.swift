/// A command and its arguments.
package struct RedisCommand: Sendable {
    let arguments: [RedisArgument]

    /// Set when the command is an `EVALSHA` of this script, so that a server without it can be given the source.
    let script: RedisScript?

    /// A command by its words: `RedisCommand("SET", "key", .bytes(body))`.
    package init(_ arguments: RedisArgument...) {
        self.init(arguments)
    }

    /// A command whose words are put together at run time. The first is the command's name.
    package init(_ arguments: [RedisArgument]) {
        precondition(!arguments.isEmpty, "A Redis command has at least a name.")
        self.arguments = arguments
        self.script = nil
    }

    /// One call of `script` with its `KEYS` and `ARGV`.
    package init(script: RedisScript, keys: [RedisArgument], arguments: [RedisArgument] = []) {
        self.arguments = ["EVALSHA", .string(script.digest), .integer(keys.count)] + keys + arguments
        self.script = script
    }

    /// The same call with the script's source in place of its digest, which also makes the server remember it.
    var withSource: RedisCommand? {
        guard let script else { return nil }
        var words = arguments
        words[0] = "EVAL"
        words[1] = .string(script.source)
        return RedisCommand(words)
    }

    /// The bytes of the arguments, without framing.
    var payloadByteCount: Int {
        arguments.reduce(0) { $0 + $1.byteCount }
    }
}

extension RedisCommand: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The command's name alone: arguments may be secrets or bodies.
    package var description: String {
        if case .string(let name) = arguments[0] { name } else { "command" }
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
