internal import GannetBasics

extension RedisCredentials {
    /// The password as it is now.
    func currentPassword() throws(RedisError) -> RedisSecret {
        switch password {
        case .value(let secret): return secret
        case .file(let path): return try Self.contents(of: path)
        }
    }

    private static func contents(of path: String) throws(RedisError) -> RedisSecret {
        func refuse(_ why: String) -> RedisError { RedisError(.invalidConfiguration, "The password file \(path) \(why).") }

        // Without O_NONBLOCK a named pipe in the file's place would hold the connection's thread for good.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw refuse("cannot be read: \(Descriptor.message(errno))") }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: longestPassword + 1)
        var count = 0
        while count < buffer.count {
            let got = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, $0.count - count) }
            guard got >= 0 else { throw refuse("cannot be read: \(Descriptor.message(errno))") }
            if got == 0 { break }
            count += got
        }
        guard count <= longestPassword else {
            throw refuse("is larger than \(longestPassword) bytes, and most likely another file than was meant")
        }
        var bytes = buffer[..<count]
        if bytes.last == 10 { bytes.removeLast() }
        if bytes.last == 13 { bytes.removeLast() }
        guard !bytes.isEmpty else { throw refuse("is empty") }
        guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\0") else { throw refuse("is not UTF-8 text") }
        return RedisSecret(text)
    }

    private static let longestPassword = 4096
}
