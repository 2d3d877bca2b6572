import Dispatch
import GannetBase

/// A process that a test or a check starts, often to kill it.
protocol HelperJob: Sendable {
    /// - Parameter words: The job's name, and its arguments.
    static func run(_ words: [String]) async throws
}

/// The one program of helpers: `TestHelper JOB [ARGUMENT…]`. Each job says in its own file what it does.
@main enum Helper {
    private static let jobs: [String: any HelperJob.Type] = [
        "archives": ArchiveWriter.self, "cache": CacheProxy.self, "disk": DiskWriter.self, "evil": EvilServer.self,
        "favourites": FavouritesWriter.self, "fetch": FetchProcess.self, "pictures": PictureSizes.self, "queue": StateWorker.self,
        "readme": ReadmeProgram.self, "robots": RobotsVerdicts.self, "waiting": WaitingWorker.self,
    ]

    /// Not asynchronous: a sandbox is entered by the first thread, before the runtime has others.
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        #if SANDBOX
        if words.first == "sandbox" { SandboxBreaker.run(words) }
        #endif
        guard let job = words.first.flatMap({ jobs[$0] }) else {
            complain("usage: TestHelper \(jobs.keys.sorted().joined(separator: "|")) [ARGUMENT…]")
            exit(64)
        }
        Task {
            do {
                try await job.run(words)
                fflush(nil)
                exit(0)
            } catch {
                complain("TestHelper \(words[0]): \(error)")
                exit(1)
            }
        }
        dispatchMain()
    }

    private static func complain(_ line: String) { _ = Descriptor.writeAll("\(line)\n", to: STDERR_FILENO) }
}
