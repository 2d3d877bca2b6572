import Glibc

/// Enters the sandbox of gannet-thumbnail, and then tries what the argument names. A test starts it and looks at its end: 0 means that the
/// attempt was possible. It writes a line before the attempt, so that the test knows where the process ended.
enum SandboxBreaker {
    private static let attempts: [String: @Sendable () -> Void] = [
        "compute": { _ = (0..<100_000).reduce(0, ^) },
        "open": { _ = open("/etc/hostname", O_RDONLY) },
        "create": { _ = open("sandbox-breaker", O_WRONLY | O_CREAT, 0o600) },
        "socket": { _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) },
        "execve": {
            var words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
            execv("/bin/true", &words)
        },
        "stat": {
            var status = stat()
            _ = stat("/", &status)
        },
        "kill": { _ = kill(getppid(), 0) },
        "read": {
            var byte: UInt8 = 0
            _ = read(5, &byte, 1)
        },
        "code": { _ = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) },
        "shared": { _ = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) },
        "limit": {
            var bounds = rlimit(rlim_cur: .max, rlim_max: .max)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &bounds)
        },
        "thread": {
            var thread = pthread_t()
            guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { exit(3) }
            pthread_join(thread, nil)
        },
        "thread that opens": {
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { _ in
                    _ = open("/etc/hostname", O_RDONLY)
                    return nil
                }, nil)
            pthread_join(thread, nil)
        },
        "memory": {
            // More than the bound, and all of it touched.
            for _ in 0..<64 {
                guard let block = malloc(1 << 20) else { exit(4) }
                memset(block, 1, 1 << 20)
            }
        },
        "time": {
            ProcessBounds.setTime(milliseconds: 100)
            while true { _ = getpid() }
        },
    ]

    /// The first thread runs it, before the runtime has others: a sandbox holds for the thread that enters it.
    static func run(_ words: [String]) -> Never {
        guard words.count == 2, let attempt = attempts[words[1]] else { exit(64) }
        // glibc sets a handler of signals up with the first thread. libvips has had threads before the sandbox.
        attempts["thread"]?()
        do {
            ProcessBounds.takeOneArena()
            try ProcessBounds.set(memory: 32 << 20, seconds: 60)
            try Sandbox.enter()
        } catch {
            exit(69)
        }
        _ = write(STDOUT_FILENO, "inside\n", 7)
        attempt()
        exit(0)
    }
}
