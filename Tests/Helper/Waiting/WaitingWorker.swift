import Crawl
import Dispatch
import GannetBase
import GannetHTTP
import GannetQueue
import GannetRedisClient
import Results

/// A worker whose requests wait for their answers, for a test of the memory that this takes.
///
/// Arguments: the socket of Redis, the namespace, the queue, how many requests at once, and the file of an authority to trust. After each
/// SIGUSR1 it prints `heap <number> <bytes>`: the number of the signal, and the memory that was allocated and not freed.
enum WaitingWorker: HelperJob {
    static func run(_ words: [String]) async throws {
        guard words.count == 6, let places = Int(words[4]) else { fatalError("A test starts this program, with five arguments.") }
        signal(SIGUSR1, SIG_IGN)
        let asked = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .main)
        let number = Mutex(0)
        asked.setEventHandler {
            let count = number.withLock {
                $0 += 1
                return $0
            }
            print("heap \(count) \(heap)")
            fflush(nil)
        }
        asked.resume()
        let redis = try await RedisConnection.connect(RedisConfiguration(address: .unix(path: words[1])))
        let cluster = ClusterState(redis, namespace: words[2])
        var fetch = FetchSettings()
        fetch.allowedNetworks = ["all"]
        fetch.timeout = .seconds(7200)
        fetch.caFile = words[5]
        var options = WorkerOptions()
        (options.concurrency, options.hostLimit, options.hostFirst) = (places, places, places)
        let bodies = RedisBodies(
            cluster, over: redis, limit: 1 << 30, temporaryFolder: FileManager.default.temporaryDirectory.path, patience: .seconds(60))
        let (stops, _) = AsyncStream.makeStream(of: Void.self)
        _ = try await Worker.work(on: words[3], of: cluster, fetch: fetch, into: bodies, options: options, stops: stops) { _ in }
        withExtendedLifetime(asked) {}
    }

    /// As glibc's allocator counts it, in all threads: all that it has from the system, without the blocks that are free.
    private static var heap: Int {
        let text = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
        let size = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        defer {
            text.deallocate()
            size.deallocate()
        }
        // The module of the C library hides this function from Swift.
        guard let function = dlsym(nil, "malloc_info"), let stream = open_memstream(text, size) else {
            fatalError("There is no malloc_info.")
        }
        _ = unsafeBitCast(function, to: (@convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32).self)(0, stream)
        fclose(stream)
        defer { free(text.pointee) }
        // The sums stand behind the last arena.
        let sums = text.pointee.map { String(cString: $0) }?.split(separator: "</heap>").last ?? ""
        func bytes(_ type: String) -> Int {
            let rest = sums.split(separator: "type=\"\(type)\"").dropFirst().first?.split(separator: "size=\"").dropFirst().first
            return rest.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        }
        return bytes("current") - bytes("fast") - bytes("rest") + bytes("mmap")
    }
}
