/// A certificate authority and what it has signed, good and bad, made anew by the `openssl` command in a temporary folder.
package final class Certificates: Sendable {
    /// The paths of two PEM files.
    package struct Certificate: Hashable, Sendable {
        package let certificate: String
        package let key: String
    }

    /// The path of the authority's certificate, which a client is to trust.
    package let authority: String

    /// For `localhost`, 127.0.0.1 and all names like `any.names.localhost` and `any.web.test`.
    package let good: Certificate

    /// Signed by the authority, for `wrong.example` only.
    package let wrongHost: Certificate

    /// For `localhost` and 127.0.0.1, signed by the authority, and expired since 2021.
    package let expired: Certificate

    /// For `localhost` and 127.0.0.1, signed by nobody but itself.
    package let selfSigned: Certificate

    private let folder: TemporaryFolder

    /// One set for the whole test process.
    package static var shared: Certificates {
        get async throws { try await sharedMaking.value }
    }

    private static let sharedMaking = Task { try await Certificates() }

    package init() async throws {
        let maker = try await Maker()
        folder = maker.folder
        authority = maker.authority.certificate
        good = try await maker.signed("good", names: Maker.hereNames, from: "20200101000000Z", to: "20991231000000Z")
        wrongHost = try await maker.signed("wrong", names: "DNS:wrong.example", from: "20200101000000Z", to: "20991231000000Z")
        expired = try await maker.signed("expired", names: Maker.hereNames, from: "20200101000000Z", to: "20210101000000Z")
        selfSigned = try await maker.selfSigned("self", extensions: ["subjectAltName=\(Maker.hereNames)"])
    }

    /// The settings with which a Redis server serves TLS with this certificate.
    package func redisTLS(_ certificate: Certificate) -> RedisServer.Options.TLS {
        .init(certificate: certificate.certificate, key: certificate.key, authority: authority)
    }
}

/// The calls of `openssl`. Dates need its `ca` command: its simpler ones refuse, in newer versions, to make what has expired already.
private struct Maker {
    static let hereNames = "DNS:localhost,IP:127.0.0.1,DNS:*.names.localhost,DNS:*.web.test"

    let folder: TemporaryFolder
    let authority: Certificates.Certificate

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    init() async throws {
        folder = try TemporaryFolder()
        let configuration = """
            [ca]
            default_ca = signing
            [signing]
            certificate = authority.pem
            private_key = authority.key
            database = index
            serial = serial
            new_certs_dir = .
            unique_subject = no
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            [req]
            distinguished_name = none
            [none]

            """
        try folder.write(configuration.utf8, to: "openssl.conf")
        try folder.write([], to: "index")
        try folder.write("01\n".utf8, to: "serial")
        authority = try await Self.selfSigned(
            "authority", extensions: ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"], in: folder)
    }

    func selfSigned(_ name: String, extensions: [String]) async throws -> Certificates.Certificate {
        try await Self.selfSigned(name, extensions: extensions, in: folder)
    }

    func signed(_ name: String, names: String, from start: String, to end: String) async throws -> Certificates.Certificate {
        let subject = ["-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out", "\(name).csr"]
        try await Self.openssl(["req", "-config", "openssl.conf"] + Self.newKey + subject, in: folder)
        try folder.write("subjectAltName=\(names)\n".utf8, to: "\(name).extensions")
        try await Self.openssl(
            [
                "ca", "-batch", "-notext", "-config", "openssl.conf", "-in", "\(name).csr", "-out", "\(name).pem",
                "-extfile", "\(name).extensions", "-startdate", start, "-enddate", end,
            ], in: folder)
        return .init(certificate: folder.file("\(name).pem"), key: folder.file("\(name).key"))
    }

    private static func selfSigned(
        _ name: String, extensions: [String], in folder: TemporaryFolder
    ) async throws -> Certificates.Certificate {
        let subject = ["-subj", "/CN=\(name)", "-days", "3650", "-keyout", "\(name).key", "-out", "\(name).pem"]
        let added = extensions.flatMap { ["-addext", $0] }
        try await openssl(["req", "-x509", "-config", "openssl.conf"] + newKey + subject + added, in: folder)
        return .init(certificate: folder.file("\(name).pem"), key: folder.file("\(name).key"))
    }

    private static func openssl(_ arguments: [String], in folder: TemporaryFolder) async throws {
        try await ChildProcess.succeed("openssl", arguments, folder: folder.path)
    }
}
