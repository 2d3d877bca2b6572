/// Where the jobs of the peers are, and what their programs know.
enum Peers {
    static let folder = "Benchmarks/ProductBenchmark/Peers"

    static func environment(_ more: [String: String]) -> [String: String] {
        // Python would leave files beside its sources.
        ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"].merging(more) { $1 }
    }
}
