import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct BodyTests {
    @Test(
        "SHA-256 is SHA-256, however the bytes come",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ])
    func digest(text: String, hexadecimal: String) throws {
        let hasher = SHA256Hasher()
        for _ in 0..<2 {
            for byte in text.utf8 { withUnsafeBytes(of: byte) { hasher.update($0) } }
            let digest = hasher.finish()
            #expect(digest.description == hexadecimal)
            #expect(digest == SHA256Digest(of: text.utf8))
            #expect(digest == SHA256Digest(bytes: digest.bytes))
        }
        #expect(SHA256Digest(bytes: [1, 2, 3]) == nil)
    }

    @Test("A kept body is a private file with its bytes; any other leaves nothing")
    func file() throws {
        let folder = try TemporaryFolder()
        var body: BodyFile? = try BodyFile(in: folder.path)
        Array("hello".utf8).withUnsafeBytes { bytes in #expect(throws: Never.self) { try body?.write(bytes) } }
        let path = try #require(body?.path)
        #expect(path.contains("/.gannet-"))
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)

        let other = try BodyFile(in: folder.path + "/")
        #expect(other.path != path)
        #expect(try other.keep() == other.path)
        body = nil
        #expect(try folder.files == [String(other.path.split(separator: "/").last ?? "")])
        #expect(folder.openFiles == [])
    }

    @Test("A body for a file is as readable as other files from its first byte, and a body that outgrew memory is its owner's alone")
    func readers() throws {
        let folder = try TemporaryFolder()
        let ordinary = folder.file("ordinary")
        #expect(FileManager.default.createFile(atPath: ordinary, contents: nil))
        let usual = try permissions(of: ordinary)
        let destinations: [(BodyDestination, Int)] = [(.file(in: folder.path), usual), (.memory(upTo: 1, thenFileIn: folder.path), 0o600)]
        for (destination, expected) in destinations {
            var store = BodyWriter(destination, hasher: SHA256Hasher(), buffers: BodyBuffers())
            try Array("hello".utf8).withUnsafeBytes { try store.write($0) }
            let name = try #require(try folder.files.first { $0.hasPrefix(BodyFile.prefix) })
            #expect(try permissions(of: folder.file(name)) == expected)
        }
    }

    private func permissions(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("A folder that is missing, or is no folder, is named with the system's reason", arguments: ["/nonexistent/folder", "/dev/null"])
    func unusable(folder: String) {
        let error = #expect(throws: StorageFailure.self) { try BodyFile(in: folder) }
        #expect(error?.description.contains(folder) == true)
        #expect(error.map { [ENOENT, ENOTDIR].contains($0.errno) } == true)
    }
}
