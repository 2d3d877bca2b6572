import GannetTestKit
import Glibc
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct RedisCredentialsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ path: String) throws(RedisError) -> String {
        try RedisCredentials(password: .file(path: path)).currentPassword().reveal()
    }

    @Test(arguments: [("pw", "pw"), ("pw\n", "pw"), ("pw\r\n", "pw"), ("pw\n\n", "pw\n"), (" p w ", " p w "), ("grün", "grün")])
    func `one line end is not part of the password`(content: String, password: String) throws {
        #expect(try read(folder.write(content.utf8, to: "password")) == password)
    }

    @Test func `a rotated password is read anew`() throws {
        let path = try folder.write("one".utf8, to: "password")
        let credentials = RedisCredentials(password: .file(path: path))
        #expect(try credentials.currentPassword() == "one")
        try folder.write("two".utf8, to: "password")
        #expect(try credentials.currentPassword() == "two")
    }

    @Test(
        arguments: [
            ("missing", nil, "No such file"), ("empty", [], "is empty"), ("line", [10], "is empty"),
            ("binary", [255, 254], "is not UTF-8"),
            ("nul", [97, 0, 98], "is not UTF-8"), ("large", [UInt8](repeating: 97, count: 4097), "it is probably the wrong file"),
        ] as [(String, [UInt8]?, String)])
    func `a file that holds no password is named, with what is wrong`(name: String, content: [UInt8]?, words: String) throws {
        if let content { try folder.write(content, to: name) }
        refuses(folder.file(name), words)
    }

    @Test func `a folder or a pipe in the file's place is an error at once`() throws {
        refuses(folder.path, "directory")
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        refuses(pipe, "is empty")
    }

    private func refuses(_ path: String, _ words: String) {
        #expect {
            _ = try read(path)
        } throws: { error in
            guard let error = error as? RedisError else { return false }
            return error.kind == .invalidConfiguration && error.description.contains(words) && error.description.contains(path)
        }
    }
}
