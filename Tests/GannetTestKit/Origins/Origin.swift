internal import GannetBase

/// A good origin: a real nginx on a port of 127.0.0.1, with generated files whose digests are known and an account of its requests.
package final class Origin: Sendable {
    /// A file it serves.
    package struct File: Sendable, Equatable {
        /// The path of its URL, such as `/7.bin`.
        package let path: String
        package let size: Int
        /// In hexadecimal.
        package let sha256: String
    }

    /// A request it has answered.
    package struct Request: Sendable, Equatable {
        package let method: String
        /// The path with its query, as it was asked for.
        package let path: String
        package let status: Int

        package init(method: String, path: String, status: Int) {
            self.method = method
            self.path = path
            self.status = status
        }
    }

    /// The files that it serves, in the order of their numbers.
    package let files: [File]

    /// The port that speaks HTTP.
    package var port: UInt16 { ports.plain.number }

    /// The port that speaks HTTPS, when `Options.certificate` asked for one.
    package var tlsPort: UInt16? { ports.tls?.number }

    private let ports: (plain: FreePort, tls: FreePort?)
    let options: Options
    private let folder: TemporaryFolder
    package let process: ChildProcess

    private struct Account: Sendable {
        var fences = 0
        /// The lines of the log that are no longer of interest.
        var forgotten = 0
        var isAsNew = true
    }

    private let account = Monitor(Account())

    /// Starts it; it answers when this returns.
    package static func start(_ options: Options = Options()) async throws -> Origin {
        let folder = try TemporaryFolder()
        let files = try await OwnedThread.run(name: "test-kit") { try options.makeFiles(in: folder) }
        let ports = (plain: try Socket.freePort(), tls: options.certificate == nil ? nil : try Socket.freePort())
        let configuration = options.configuration(folder: folder.path, port: ports.plain.number, tlsPort: ports.tls?.number)
        try folder.write(configuration.utf8, to: "nginx.conf")
        let process = try ChildProcess(
            .init(
                "nginx", ["-p", "\(folder.path)/", "-c", folder.file("nginx.conf"), "-e", "stderr"],
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]))
        guard try await process.errors.line(where: { $0.contains("start worker process ") }) != nil else {
            throw KitError("nginx ended with \(try await process.exitStatus) instead of starting: \(process.errors.text)")
        }
        return Origin(options, files: files, ports: ports, folder: folder, process: process)
    }

    private init(
        _ options: Options, files: [File], ports: (plain: FreePort, tls: FreePort?), folder: TemporaryFolder, process: ChildProcess
    ) {
        self.options = options
        self.files = files
        self.ports = ports
        self.folder = folder
        self.process = process
    }

    /// The URL of a path.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The URL of this host whose requests go on to a server that misbehaves. They are in no account. Where that server ends without an
    /// answer, so does the connection.
    package func url(_ path: String, through gate: HostileServer) -> String { url("/gate-\(gate.port)\(path)") }

    /// The URLs of all files.
    package var urls: [String] { files.map { url($0.path) } }

    /// Gives a file other content, which later requests get. nginx' tag of a file is its time in seconds and its size, so the size should differ.
    package func replace(_ path: String, by content: [UInt8]) throws {
        account.update { $0.isAsNew = false }
        try folder.write(content, to: "files\(path)")
    }

    /// Requests for it get a 404 from now on.
    package func remove(_ path: String) throws {
        account.update { $0.isAsNew = false }
        try FileManager.default.removeItem(atPath: folder.file("files\(path)"))
    }

    /// Whether it runs, and its files are those that it was started with.
    var isAsNew: Bool { account.update { $0.isAsNew } && process.isRunning }

    /// Every request that was answered before the call, in the order in which the answers ended. Exact: a request of its own goes
    /// through the one worker process after them, and only when that is in the log is the log read.
    package func requests() async throws -> [Request] {
        let lines = try await log()
        return lines.dropFirst(account.update { $0.forgotten }).compactMap(Self.request)
    }

    /// Leaves the requests before this call out of later accounts, and dates the files from now: an answer may be kept longer the older it is.
    func renew() async throws {
        let count = try await log().count
        account.update { $0.forgotten = count }
        for file in files { utimes(folder.file("files\(file.path)"), nil) }
    }

    /// All lines of the log about requests that were answered before the call.
    private func log() async throws -> [String] {
        let number = account.update { account in
            account.fences += 1
            return account.fences
        }
        let fence = "\(Self.fencePath)\(number)"
        let port = port
        try await OwnedThread.run(name: "test-kit") { try Self.ask("GET \(fence) HTTP/1.0\r\n\r\n", port: port) }
        let forgotten = account.update { $0.forgotten }
        guard try await process.output.line(from: forgotten, where: { $0.hasPrefix("GET \(fence) ") }) != nil else {
            throw KitError("nginx ended: \(process.errors.text)")
        }
        return process.output.lines
    }

    /// Ends it: connections are refused from then on.
    package func stop() async throws {
        process.terminate()
        _ = try await process.exitStatus
    }

    static let fencePath = "/.fence/"

    private static func request(_ line: String) -> Request? {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let status = Int(parts[2]), !parts[1].hasPrefix(fencePath) else { return nil }
        return Request(method: String(parts[0]), path: String(parts[1]), status: status)
    }

    private static func ask(_ request: String, port: UInt16) throws(KitError) {
        let descriptor = try Socket.connect(to: .loopback(port: port))
        defer { closeSocket(descriptor) }
        try Socket.sendAll(Array(request.utf8), to: descriptor)
        while try !Socket.receive(from: descriptor).isEmpty {}
    }
}
