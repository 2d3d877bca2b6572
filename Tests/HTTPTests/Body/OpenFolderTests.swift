import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

struct OpenFolderTests {
    private static func file(in folder: OpenFolder, _ text: String) throws -> BodyFile {
        let file = try BodyFile(lockedIn: folder)
        Array(text.utf8).withUnsafeBytes { bytes in #expect(throws: Never.self) { try file.write(bytes) } }
        return file
    }

    @Test func `a file is moved to its place whole, and replaces the file that is there`() throws {
        let folder = try TemporaryFolder()
        let root = try OpenFolder(folder.path)
        let target = try OpenFolder("target", in: root, creating: true)
        for text in ["first", "second"] {
            let file = try Self.file(in: root, text)
            #expect(file.path.hasPrefix("\(folder.path)/\(BodyFile.prefix)"))
            try file.move(to: target, as: "name")
            #expect(try contents(ofFile: "\(folder.path)/target/name") == Array(text.utf8))
        }
        #expect(try folder.files == ["target"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("target"))
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func `a file that cannot be moved is removed with its object, and the error names the place`() throws {
        let folder = try TemporaryFolder()
        let root = try OpenFolder(folder.path)
        try FileManager.default.createDirectory(atPath: folder.file("name"), withIntermediateDirectories: false)
        var file: BodyFile? = try Self.file(in: root, "text")
        let failure = #expect(throws: StorageFailure.self) { try file?.move(to: root, as: "name") }
        #expect(failure?.errno == EISDIR && failure?.path == folder.file("name"))
        file = nil
        #expect(try folder.files == ["name"])
        #expect(folder.openFiles == [])
    }

    @Test func `a file is locked for as long as it is written`() throws {
        let folder = try TemporaryFolder()
        let root = try OpenFolder(folder.path)
        let file = try Self.file(in: root, "text")
        let other = open(file.path, O_RDWR | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        withExtendedLifetime(file) {}
    }

    @Test func `a folder stays the one that was opened, and a link in it is not followed`() throws {
        let folder = try TemporaryFolder()
        for name in ["first", "outside"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
        }
        let first = try OpenFolder(folder.file("first"))
        try FileManager.default.moveItem(atPath: folder.file("first"), toPath: folder.file("moved"))
        try FileManager.default.createSymbolicLink(atPath: folder.file("first"), withDestinationPath: folder.file("outside"))
        try Self.file(in: first, "text").move(to: first, as: "name")
        #expect(try contents(ofFile: folder.file("moved/name")) == Array("text".utf8))

        let root = try OpenFolder(folder.path)
        for creating in [false, true] {
            let failure = #expect(throws: StorageFailure.self) { try OpenFolder("first", in: root, creating: creating) }
            #expect(failure.map { [ENOTDIR, ELOOP].contains($0.errno) } == true)
        }
        // A link in a path that the user names is followed.
        #expect(throws: Never.self) { try OpenFolder(folder.file("first")) }
        let missing = #expect(throws: StorageFailure.self) { try OpenFolder("missing", in: root) }
        #expect(missing?.errno == ENOENT && missing?.path == folder.file("missing"))
    }
}
