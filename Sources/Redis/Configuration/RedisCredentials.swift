internal import GannetBase

/// The user and password of a connection.
package struct RedisCredentials: Sendable, Equatable {
    package enum Password: Sendable, Equatable {
        case value(RedisSecret)
        /// A file that is read at every connect, so that a new password is used. A line break at its end is ignored.
        case file(path: String)
    }

    /// The ACL user; `nil` is the server's `default` user.
    package var user: String?
    package var password: Password

    package init(user: String? = nil, password: Password) {
        self.user = user
        self.password = password
    }
}

extension RedisCredentials {
    /// The password, read anew if it is in a file.
    func currentPassword() throws(RedisError) -> RedisSecret {
        switch password {
        case .value(let secret): return secret
        case .file(let path): return try Self.contents(of: path)
        }
    }

    private static func contents(of path: String) throws(RedisError) -> RedisSecret {
        func refuse(_ why: String) -> RedisError { RedisError(.invalidConfiguration, "The password file \(path) \(why).") }

        // Without O_NONBLOCK, opening a named pipe would block the connection's thread.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw refuse("cannot be read: \(Descriptor.message(errno))") }
        defer { close(descriptor) }
        guard var bytes = Descriptor.contents(of: descriptor, atMost: longestPassword + 1) else {
            throw refuse("cannot be read: \(Descriptor.message(errno))")
        }
        guard bytes.count <= longestPassword else {
            throw refuse("is larger than \(longestPassword) bytes; it is probably the wrong file")
        }
        if bytes.last == 10 { bytes.removeLast() }
        if bytes.last == 13 { bytes.removeLast() }
        guard !bytes.isEmpty else { throw refuse("is empty") }
        guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else { throw refuse("is not UTF-8 text") }
        return RedisSecret(text)
    }

    private static let longestPassword = 4096
}

/// A password. Descriptions, mirrors and dumps do not show it.
package struct RedisSecret: Sendable, Equatable, ExpressibleByStringLiteral {
    private let value: String

    package init(_ value: String) { self.value = value }
    package init(stringLiteral value: String) { self.value = value }

    /// The password, to be sent.
    func reveal() -> String { value }

    /// Replaces the password in a text, because servers quote commands in their errors. They cut long arguments, so the password's beginning is
    /// replaced as well. Bytes are compared, because the following character may combine with the password's last one.
    func scrub(_ text: String) -> String {
        let secret = Array(value.utf8)
        let bytes = Array(text.utf8)
        let telling = Array(secret.prefix(Self.tellingBytes))
        guard !secret.isEmpty, bytes.count >= telling.count else { return text }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: telling) {
            result += rest[..<found.lowerBound]
            result += Array("•••".utf8)
            let common = zip(rest[found.lowerBound...], secret).prefix { $0 == $1 }.count
            rest = rest[(found.lowerBound + common)...]
        }
        return result.isEmpty ? text : String(decoding: result + rest, as: UTF8.self)
    }

    /// The length of a beginning that counts as the password.
    private static let tellingBytes = 6
}

extension RedisSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "•••" }
    package var debugDescription: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
