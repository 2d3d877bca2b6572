import GannetTestKit
import Glibc

/// Where the programs of the peers are, and what they know.
enum Peers {
    static let folder = "Benchmarks/ProductBenchmark/Peers"

    static func environment(_ more: [String: String] = [:]) -> [String: String] {
        // Python would leave files beside its sources.
        ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"].merging(more) { $1 }
    }

    /// A program from PyPI, in the environment that `Scripts/setup --bench` makes.
    static func python(_ program: String, _ arguments: [String]) throws -> Command {
        let path = "\(root)/.build/peers/bin/\(program)"
        guard Program.find(path) != nil else { throw KitError("\(program) is not installed: Scripts/setup --bench installs it") }
        return Command(path, arguments, environment: environment(), folder: folder)
    }

    /// `Scripts/bench` starts this program in the top folder of the repository.
    private static let root: String = {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }()
}
