import GannetTestKit
import Testing

@testable import GannetBase

@Suite(.timeLimit(.minutes(3))) struct SafeFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func content(_ name: String) -> String? {
        let descriptor = open(folder.file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return Descriptor.contents(of: descriptor, atMost: 100).map { String(decoding: $0, as: UTF8.self) }
    }

    private func replace(_ name: String, with text: String) -> stat? {
        SafeFile.replace(folder.file(name), with: Array(text.utf8), by: folder.file("new"), permissions: 0o600)
    }

    /// The system's reason where there is nothing.
    private func code(_ work: () -> Any?) -> Int32? { work() == nil ? errno : nil }

    @Test func `a file is replaced, and nothing is left beside it`() {
        #expect(replace("a", with: "one")?.st_size == 3)
        let second = replace("a", with: "two!")
        #expect(content("a") == "two!")
        #expect(content("new") == nil)
        var found = stat()
        #expect(stat(folder.file("a"), &found) == 0)
        #expect(found.st_ino == second?.st_ino && found.st_size == 4)
        #expect(found.st_mode & 0o777 == 0o600)
    }

    @Test func `a file that cannot be replaced stays, and the new one goes`() {
        mkdir(folder.file("a"), 0o700)
        #expect(code { replace("a", with: "one") } == EISDIR)
        #expect(content("new") == nil)
        #expect(code { replace("missing/a", with: "one") } == ENOENT)
    }

    @Test func `a file of the temporary name is another writer's, and stays`() {
        close(open(folder.file("new"), O_WRONLY | O_CREAT, 0o600))
        #expect(code { replace("a", with: "one") } == EEXIST)
        #expect(content("new") == "")
        #expect(content("a") == nil)
    }

    @Test func `a whole file is given its name, or removed`() {
        #expect(replace("a", with: "old") != nil && replace("b", with: "new") != nil)
        #expect(SafeFile.publish(folder.file("b"), as: folder.file("a")))
        #expect(content("a") == "new" && content("b") == nil)
        #expect(code { SafeFile.publish(folder.file("b"), as: folder.file("a")) ? true : nil } == ENOENT)
        #expect(content("a") == "new")
        #expect(!SafeFile.publish(folder.file("a"), as: folder.file("missing/a")))
        #expect(content("a") == nil)
    }

    @Test func `a lock is shared, or one process holds it alone until the last reference goes`() {
        let path = folder.file("lock")
        var one = FileLock.take(path, .shared)
        let two = FileLock.take(path, .shared)
        #expect(one != nil && two != nil)
        #expect(code { FileLock.take(path, .exclusive, within: .milliseconds(5)) } == EWOULDBLOCK)
        one = nil
        two?.release()
        // A process that another test starts has the file too, until it runs its program.
        let alone = FileLock.take(path, .exclusive, within: .seconds(30))
        #expect(alone != nil)
        withExtendedLifetime(alone) { #expect(code { FileLock.take(path, .shared) } == EWOULDBLOCK) }
    }

    @Test func `a link in the place of a lock is not followed`() {
        symlink(folder.file("elsewhere"), folder.file("lock"))
        #expect(code { FileLock.take(folder.file("lock"), .exclusive) } == ELOOP)
        #expect(content("elsewhere") == nil)
    }
}
