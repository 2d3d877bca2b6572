import GannetBase
import Testing

@Suite(.timeLimit(.minutes(3))) struct SpawnTests {
    /// The output of a shell script that is started with the given descriptors between its output and its errors.
    private func output(
        _ script: String, environment: [String: String]? = nil, extra: [Int32] = [], group: Spawn.Group = .own
    ) throws -> String {
        let pipe = try #require(Descriptor.pipe())
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { for one in [pipe.read, null] { close(one) } }
        let pid = Spawn(
            "/bin/sh", words: ["shell", "-c", script], environment: environment, descriptors: [null, pipe.write, null] + extra, group: group
        ).start()
        close(pipe.write)
        #expect(pid > 0)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(pipe.read, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        var status: Int32 = 0
        #expect(waitpid(pid, &status, 0) == pid)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a child has the descriptors that it is given and no others, also one that this process lets its children inherit`() throws {
        let inheritable = open("/dev/null", O_RDONLY)
        defer { close(inheritable) }
        let file = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let listing = try output("ls /proc/$$/fd && readlink /proc/$$/fd/3", extra: [file])
        #expect(listing == "0\n1\n2\n3\n/dev/zero\n")
    }

    @Test func `descriptors whose numbers are each other's targets arrive in their places`() throws {
        let first = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        let second = open("/dev/full", O_RDONLY | O_CLOEXEC)
        defer { for one in [first, second] { close(one) } }
        // A child with so many descriptors has targets on both sides of these numbers.
        let extra = (0..<Int(max(first, second))).map { $0 % 2 == 0 ? second : first }
        let names = try output("cd /proc/$$/fd && readlink 3 4 5 6 | tr '\\n' ' '", extra: extra)
        #expect(names == "/dev/full /dev/zero /dev/full /dev/zero ")
    }

    @Test func `a child has the environment that it is given, its group and its name`() throws {
        #expect(try output("echo $NAME $0", environment: ["NAME": "value"]) == "value shell\n")
        #expect(try output("ps -o pgid= -p $$ | tr -d ' '; echo $$", group: .own).split(separator: "\n").count == 2)
        for group in [Spawn.Group.own, .session] {
            let numbers = try output("cut -d' ' -f1,5,6 /proc/$$/stat", group: group).split { $0 == " " || $0 == "\n" }
            #expect(numbers[0] == numbers[1])
            #expect((numbers[0] == numbers[2]) == (group == .session))
        }
    }

    @Test func `a missing program is an error`() {
        #expect(Spawn("/no/such/program", words: ["x"], environment: [:], descriptors: [], group: .own).start() == -ENOENT)
    }
}
