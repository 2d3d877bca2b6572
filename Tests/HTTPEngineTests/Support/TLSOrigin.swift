import Foundation

/// `openssl s_server` on a free port of 127.0.0.1, with a certificate of its own.
final class TLSOrigin {
    let port: Int
    let certificate: String
    private let process = Process()
    private let input = Pipe()

    struct Unavailable: Error {}

    /// `name` is what the certificate is for, such as `IP:127.0.0.1`.
    init(for name: String, in folder: TemporaryFolder) throws {
        certificate = folder.path + "/certificate.pem"
        let key = folder.path + "/key.pem"
        let maker = Process()
        maker.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        maker.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
            + ["-subj", "/CN=gannet test", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", certificate]
        maker.standardError = FileHandle.nullDevice
        try maker.run()
        maker.waitUntilExit()
        guard maker.terminationStatus == 0 else { throw Unavailable() }

        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = input
        try process.run()
        var text = ""
        while !text.contains("ACCEPT 127.0.0.1:") || !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Unavailable() }
            text += String(decoding: more, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").last, let port = Int(line.split(separator: ":").last ?? "") else {
            throw Unavailable()
        }
        self.port = port
    }

    deinit {
        // Not SIGTERM: a program started from a task's thread inherits that thread's blocked signals.
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}
