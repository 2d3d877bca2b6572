import GannetTestKit

/// An nginx that does as little as it can for a request: no log, files from memory, connections that are never closed.
struct Server {
    let origin: Origin
    let authority: String

    static func start(_ folder: TemporaryFolder) async throws -> Server {
        let certificates = try await Certificates.shared
        for (name, size) in [("1k", 1000), ("10k", 10_000), ("1m", 1_000_000)] {
            try folder.write([UInt8](repeating: 0x78, count: size), to: name)
        }
        let origin = try await Origin.start(
            .init {
                $0.fileCount = 0
                $0.certificate = certificates.good
                $0.isFast = true
                $0.directives = "location /bench/ { alias \(folder.path)/; }"
            })
        return Server(origin: origin, authority: certificates.authority)
    }

    func url(_ name: String, isSecure: Bool) -> String {
        isSecure ? "https://127.0.0.1:\(origin.tlsPort ?? 0)/bench/\(name)" : "http://127.0.0.1:\(origin.port)/bench/\(name)"
    }
}
