import Foundation
import GannetHTTP
import GannetTestKit
import Testing

@testable import GannetQueue
@testable import Results

@Suite struct BodyFolderTests {
    private static let id = URLID([UInt8](repeating: 0xab, count: 16))!

    private func permissions(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(arguments: ["a", "a/b/c", "a//b///c", "a/b/c/", "a/../b", "./a"])
    func `a missing folder is made with its parents, and made only once`(path: String) throws {
        let temporary = try TemporaryFolder()
        for _ in 0..<2 {
            _ = try BodyFolder(temporary.file(path))
            var isFolder: ObjCBool = false
            #expect(FileManager.default.fileExists(atPath: temporary.file(path), isDirectory: &isFolder) && isFolder.boolValue)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.file(path)) == [])
    }

    @Test func `a folder with records tells of another way to name files, and one without does not`() throws {
        let temporary = try TemporaryFolder()
        func names(_ names: NameStyle) throws -> NameStyle? { try BodyFolder(temporary.file("out"), names: names).claimNames() }
        #expect(try names(.hash) == nil)
        #expect(try names(.host) == nil)
        let journal = try Journal(in: temporary.file("out/.gannet"))
        #expect(try names(.hash) == nil)
        #expect(try journal.append(JobRecord(Self.id)))
        #expect(try names(.hash) == nil)
        #expect(try names(.path) == .hash)
        #expect(try names(.path) == nil)
        // A note that says nothing is as none.
        try temporary.write(Array("other\n".utf8), to: "out/.gannet/names")
        #expect(try names(.host) == nil)
        #expect(try names(.hash) == .host)
    }

    @Test(arguments: [".gannet", "ab", "ab/cd"])
    func `no symbolic link within the folder is followed`(link: String) throws {
        let temporary = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        let folder = try BodyFolder(temporary.file("out"))
        let path = "\(folder.path)/\(link)"
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere.path)
        let body = try temporary.write([1], to: "body")
        let refused = #expect(throws: StorageFailure.self) {
            if link == ".gannet" { _ = try folder.ownFolder(link) } else { _ = try folder.place(body, as: "ab/cd/body") }
        }
        #expect(refused?.description.hasPrefix("\(path) is a symbolic link, ") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
    }

    @Test(arguments: [".gannet-lock", ".gannet/journal"])
    func `a lock or journal that is a symbolic link is refused`(link: String) throws {
        let temporary = try TemporaryFolder()
        let victim = try temporary.write(Array("vm\n".utf8), to: "victim")
        let folder = try BodyFolder(temporary.file("out"))
        _ = try folder.ownFolder(".gannet")
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(link)", withDestinationPath: victim)
        #expect(throws: StorageFailure.self) {
            if link == ".gannet-lock" { _ = try FolderLock(folder) } else { _ = try RecordedFolder(folder) }
        }
        #expect(try contents(ofFile: victim) == Array("vm\n".utf8))
    }

    @Test func `the name of a folder comes from its lock file, and not from its path`() throws {
        let temporary = try TemporaryFolder()
        func identity(_ path: String) throws -> String {
            let lock = try FolderLock(try BodyFolder(temporary.file(path)))
            return try lock!.identity()
        }
        let first = try identity("a")
        #expect(try identity("a") == first)
        #expect(try identity("b") != first)
        try temporary.write(Array("something else".utf8), to: "a/.gannet-lock")
        let next = try identity("a")
        #expect(next != first && next.count == 24)
        #expect(try identity("a") == next)
    }

    @Test func `a file in the place of the folder is an error`() throws {
        let temporary = try TemporaryFolder()
        let file = try temporary.write([1], to: "file")
        let inTheWay = #expect(throws: StorageFailure.self) { try BodyFolder(file) }
        #expect(inTheWay?.description == "\(file) is not a folder.")
        let below = #expect(throws: StorageFailure.self) { try BodyFolder(file + "/below") }
        #expect(below?.description == "The folder \(file)/below cannot be made: Not a directory.")
    }

    @Test(.enabled(if: MachineNeed.isMet(FileManager.default.fileExists(atPath: "/proc/self")), "There is no /proc/self here."))
    func `a folder that cannot be written to is an error`() throws {
        let failure = #expect(throws: StorageFailure.self) { try BodyFolder("/proc/self") }
        #expect(failure?.description.hasPrefix("The folder /proc/self cannot be written to: ") == true)
    }

    @Test func `a body is moved to its place, replaces an older one, and is as readable as other files`() throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        let ordinary = temporary.file("ordinary")
        #expect(FileManager.default.createFile(atPath: ordinary, contents: nil))
        for text in ["one", "two"] {
            let file = try BodyFile(in: folder.path, .ordinary)
            try Array(text.utf8).withUnsafeBytes { try file.write($0) }
            let body = try file.keep()
            let path = try folder.place(body, of: "http://h/cat.jpg", id: Self.id)
            #expect(path == "aba/" + String(repeating: "ab", count: 16) + "-cat.jpg")
            #expect(try String(contentsOfFile: temporary.file(path), encoding: .utf8) == text)
            #expect(try permissions(of: temporary.file(path)) == permissions(of: ordinary))
            #expect(!FileManager.default.fileExists(atPath: body))
        }
    }

    @Test func `placing a body changes its name and nothing else`() throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        let body = try temporary.write([1], to: ".gannet-x")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: body)
        let path = try folder.place(body, as: "ab/cd/body")
        #expect(try permissions(of: temporary.file(path)) == 0o640)
    }

    @Test func `a body is found only under its URL's name and with its size`() throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        let url = "http://h/cat.jpg"
        #expect(folder.file(of: url, id: Self.id, size: 3) == nil)
        let path = try folder.place(try temporary.write([1, 2, 3], to: ".gannet-x"), of: url, id: Self.id)
        #expect(folder.file(of: url, id: Self.id, size: 3) == path)
        #expect(folder.file(of: url, id: Self.id, size: 2) == nil)
        #expect(folder.file(of: "http://h/dog.jpg", id: Self.id, size: 3) == nil)
        try FileManager.default.removeItem(atPath: temporary.file(path))
        try FileManager.default.createSymbolicLink(
            atPath: temporary.file(path), withDestinationPath: try temporary.write([1, 2, 3], to: "x"))
        #expect(folder.file(of: url, id: Self.id, size: 3) == nil)
    }

    @Test func `a folder gives the body that an outcome names, and nothing from outside`() throws {
        let temporary = try TemporaryFolder()
        let (folder, target) = (try BodyFolder(temporary.file("in")), try BodyFolder(temporary.file("target")))
        for file in ["in/body", "outside"] { try temporary.write([1, 2, 3], to: file) }
        func content(_ file: String?, _ bytes: [UInt8] = [1, 2, 3]) -> OutcomeContent {
            var content = OutcomeContent(url: "http://h/cat.jpg")
            (content.size, content.digest) = (bytes.count, SHA256Digest(of: bytes).bytes)
            content.fields[.file] = file
            return content
        }
        #expect(folder.body(content("body")) == [1, 2, 3])
        let copy = try #require(try folder.copy(content("body"), to: target))
        #expect(FileManager.default.contents(atPath: copy) == Data([1, 2, 3]))
        for other in [content(nil), content("none"), content("../outside"), content("body", [1, 2, 4]), content("body", [1, 2])] {
            #expect(folder.body(other) == nil)
            #expect(try folder.copy(other, to: target) == nil)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).count == 1)
    }

    @Test(arguments: ["aba", "aba/abababababababababababababababab-x/y"])
    func `something in the place of a body is an error, and the temporary file is removed`(way: String) throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        let parent = (way as NSString).deletingLastPathComponent
        if !parent.isEmpty { try FileManager.default.createDirectory(atPath: temporary.file(parent), withIntermediateDirectories: true) }
        try temporary.write([1], to: way)
        let body = try temporary.write([2], to: ".gannet-x")
        let failure = #expect(throws: StorageFailure.self) { try folder.place(body, of: "http://h/x", id: Self.id) }
        #expect(failure?.isPlaceTaken == true)
        #expect(!FileManager.default.fileExists(atPath: body))
    }

    @Test func `a folder belongs to one run at a time`() throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        do {
            let first = try FolderLock(folder)
            let second = try FolderLock(folder)
            let (hasFirst, hasSecond) = (first != nil, second != nil)
            #expect(hasFirst && !hasSecond)
        }
        let third = try FolderLock(folder) != nil
        #expect(third)
    }

    @Test func `workers share a folder with each other and not with a run`() throws {
        let temporary = try TemporaryFolder()
        let folder = try BodyFolder(temporary.path)
        let first = try FolderLock(folder, .shared)
        let second = try FolderLock(folder, .shared)
        let run = try FolderLock(folder)
        let (hasFirst, hasSecond, hasRun) = (first != nil, second != nil, run != nil)
        #expect(hasFirst && hasSecond && !hasRun)
    }

    @Test func `workers that share a folder sweep unfinished files of long ago, and no others`() throws {
        let folder = try TemporaryFolder()
        for name in [".gannet-old", ".gannet-new"] { try folder.write([1], to: name) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)], ofItemAtPath: folder.file(".gannet-old"))
        guard let lock = try FolderLock(try BodyFolder(folder.path), .shared) else { return #expect(Bool(false), "it is locked") }
        #expect(lock.sweep(olderThan: .seconds(86_400)) == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == [".gannet-lock", ".gannet-new"])
    }

    @Test func `a sweep removes unfinished files of the folder itself and nothing else`() throws {
        let folder = try TemporaryFolder()
        for name in [".gannet-abc", ".gannet-1", "body", ".gannetry"] { try folder.write([1], to: name) }
        for name in [".gannet-folder", "00"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
        }
        try folder.write([1], to: "00/.gannet-x")
        guard let lock = try FolderLock(try BodyFolder(folder.path)) else { return #expect(Bool(false), "it is locked") }
        #expect(lock.sweep() == 2)
        #expect(lock.sweep() == 0)
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        #expect(left == [".gannet-folder", ".gannet-lock", ".gannetry", "00", "00/.gannet-x", "body"])
    }
}
