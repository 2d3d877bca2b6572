import Foundation
import GannetTestKit
import Testing

@testable import Crawl

/// The memory that a worker may take.
@Suite struct MemoryRoomTests {
    private static func room(_ groups: String, _ files: [String: String]) throws -> MemoryRoom? {
        let folder = try TemporaryFolder()
        var all = files
        all["proc/meminfo"] = "MemTotal:       8388608 kB\nMemFree:         100 kB\nMemAvailable:    4194304 kB\n"
        all["proc/self/cgroup"] = groups
        for (path, text) in all {
            let parent = folder.file(path.split(separator: "/").dropLast().joined(separator: "/"))
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try folder.write(text.utf8, to: path)
        }
        return MemoryRoom.read(under: folder.path)
    }

    private static let machine = MemoryRoom(left: 4 << 30, all: 8 << 30)

    @Test func `without a bound of a control group it is that of the machine`() throws {
        #expect(try Self.room("", [:]) == Self.machine)
        #expect(try Self.room("0::/a\n", ["sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.current": "5\n"]) == Self.machine)
        let none = [
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
        ]
        #expect(try Self.room("4:memory:/\n", none) == Self.machine)
    }

    @Test func `the group with the least room counts, without the files that the kernel keeps for it`() throws {
        let files = [
            "sys/fs/cgroup/a/memory.max": "1073741824\n", "sys/fs/cgroup/a/memory.current": "1000000000\n",
            "sys/fs/cgroup/a/memory.stat": "anon 900\ninactive_file 500000000\n",
            "sys/fs/cgroup/a/b/memory.max": "2147483648\n", "sys/fs/cgroup/a/b/memory.current": "1000000000\n",
        ]
        #expect(try Self.room("0::/a/b\n", files) == MemoryRoom(left: 573_741_824, all: 1 << 30))
    }

    @Test func `in a container the path of the host is passed over`() throws {
        let files = [
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "68435456\n",
        ]
        #expect(try Self.room("5:cpu:/x\n4:memory:/docker/1234\n", files) == MemoryRoom(left: 200_000_000, all: 256 << 20))
    }

    @Test func `this machine tells its memory`() throws {
        let room = try #require(MemoryRoom.now)
        #expect(room.left > 0 && room.left <= room.all)
    }

    @Test func `a machine without files about it tells nothing`() throws {
        let folder = try TemporaryFolder()
        #expect(MemoryRoom.read(under: folder.path) == nil)
    }
}
