import COpenSSL
internal import GannetBase

/// Fetch settings after the check, with their texts read. All transfers share one object, so that none copies the settings.
final class EngineSettings: Sendable {
    let fetch: FetchSettings
    let proxy: ProxyAddress?
    let addressGuard: AddressGuard
    let answerTimeout: Duration
    let minimumSpeedWindow: Duration

    init(_ settings: FetchSettings) throws(InvalidOptions) {
        fetch = settings
        answerTimeout = settings.answerTimeout ?? max(.milliseconds(1), settings.timeout / 2)
        minimumSpeedWindow = settings.minimumSpeedWindow ?? max(.milliseconds(1), settings.timeout / 2)
        if let address = settings.proxy { proxy = try ProxyAddress(address) } else { proxy = nil }
        addressGuard = try AddressGuard(parsing: settings.allowedNetworks)
        try check()
    }

    /// The bytes that libcurl reads at a time for another transfer beside so many. A larger buffer means fewer calls of the system for a large
    /// body. Each running transfer has one, also while it waits for its answer, so all together keep to a bound. A speed limit grants no more
    /// than a piece.
    func receiveBuffer(beside running: Int) -> Int {
        guard fetch.maximumSpeed == nil else { return SpeedAllowance.piece }
        let most = running < Self.fewTransfers ? min(2 * Self.fewTransfers, fetch.maximumInFlight) : fetch.maximumInFlight
        return min(100 << 10, max(4 << 10, Self.mostReceiveBuffers / most))
    }

    private static let mostReceiveBuffers = 8 << 20
    private static let fewTransfers = 128

    /// So often the engine looks at least whether answers are overdue and bodies move.
    var reviewInterval: Duration { min(answerTimeout, minimumSpeedWindow) }

    private func check() throws(InvalidOptions) {
        for (name, time) in [
            ("timeout", fetch.timeout), ("connect timeout", fetch.connectTimeout), ("time for an answer", answerTimeout),
            ("window of the minimum speed", minimumSpeedWindow),
        ] {
            try InvalidOptions.unless(FetchSettings.times.contains(time), "The \(name) must be from 1 millisecond to 7 days.")
        }
        for speed in [fetch.minimumSpeed, fetch.lastingSpeed] {
            try InvalidOptions.unless((0...Int(Int32.max)).contains(speed), "The minimum speed must be from 0 to \(Int32.max) bytes.")
        }
        if let speed = fetch.maximumSpeed {
            try InvalidOptions.unless(FetchSettings.speeds.contains(speed), "The speed limit must be from 1 KiB to 1 TiB a second.")
        }
        try InvalidOptions.unless(
            FetchSettings.bodySizes.contains(Int(clamping: fetch.maximumBody)), "The largest body must be from 1 byte to 1 TB.")
        try InvalidOptions.unless((1024...(64 << 20)).contains(fetch.maximumHeaders), "The header limit must be from 1 KiB to 64 MiB.")
        try InvalidOptions.unless((0...100).contains(fetch.maximumRedirects), "The redirect limit must be from 0 to 100.")
        try InvalidOptions.unless((1...65_536).contains(fetch.maximumInFlight), "From 1 to 65,536 transfers can be in flight.")
        try InvalidOptions.unless((1...1_000_000).contains(fetch.maximumLookUps), "The look-ups at a time must be from 1 to 1000000.")
        _ = try fetch.resolver.validatedServers()
        if let userAgent = fetch.userAgent {
            let isSendable = !userAgent.isEmpty && HeaderField(name: "User-Agent", value: userAgent) != nil
            try InvalidOptions.unless(isSendable, "The user agent must be 1 to 8192 bytes long, without control characters.")
        }
        if let caFile = fetch.caFile { try Self.check(authorities: caFile) }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up: libcurl takes 0 as "no limit".
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// An HTTP or SOCKS proxy: `http://[user:password@]host:port`, `https://…`, or `socks5h://…`, which looks names up itself as the others do.
/// A text that is none is not quoted, since it may hold a password.
struct ProxyAddress: Sendable, Hashable {
    let url: String
    let host: String
    let port: Int
    /// Whether it answers plain http requests itself, instead of passing bytes on.
    var passesOnRequests: Bool { !url.hasPrefix("socks") }

    init(_ text: String) throws(InvalidOptions) {
        guard let mark = text.firstRange(of: "://") else { throw Self.refusal }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard ["http", "https", "socks5h"].contains(scheme) else {
            throw InvalidOptions("A proxy's address begins with http://, https:// or socks5h://.")
        }
        let rest = text[mark.upperBound...]
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains(where: { "/?#".contains($0) }) else { throw Self.refusal }
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...]),
            (1...65535).contains(port)
        else { throw Self.refusal }
        do throws(RequestRejection) {
            // Read as an http URL, whose form it has. libcurl gets the host in ASCII.
            let address = try CanonicalURL(standard: Array("http://\(authority)".utf8))
            host = address.hostName
            url = "\(scheme)://\(address.credentials.map { "\($0)@" } ?? "")\(host):\(port)"
        } catch {
            throw InvalidOptions("The proxy's address cannot be used: \(error).")
        }
        self.port = port
    }

    private static let refusal = InvalidOptions("A proxy's address is http://host:port, https://host:port or socks5h://host:port.")
}

extension ProxyAddress: CustomStringConvertible {
    /// The address without credentials.
    var description: String { RedactedURL(url).description }
}

extension EngineSettings {
    /// In bytes. The files of operating systems have a quarter of a megabyte.
    private static let largestAuthorities = 64 << 20

    /// Checks the user's file of certificate authorities in advance: libcurl reads it when it first needs it, and then every URL would fail for
    /// the same reason. Throws unless every certificate in the file can be read, and there is one.
    static func check(authorities path: String) throws(InvalidOptions) {
        let name = "The CA file \(path.escapedForDisplay)"
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw InvalidOptions("\(name) cannot be read: \(String(cString: strerror(errno))).")
        }
        // Opening a pipe would wait for a writer.
        guard status.st_mode & S_IFMT == S_IFREG else { throw InvalidOptions("\(name) is not a file.") }
        guard status.st_size <= largestAuthorities else { throw InvalidOptions("\(name) is larger than \(largestAuthorities >> 20) MiB.") }
        guard let file = BIO_new_file(path, "r") else { throw InvalidOptions("\(name) cannot be read.") }
        defer {
            BIO_free(file)
            ERR_clear_error()
        }
        ERR_clear_error()
        var count = 0
        // Without this callback, OpenSSL asks the terminal for the password of an encrypted one and waits.
        while let certificate = PEM_read_bio_X509_AUX(file, nil, { _, _, _, _ in -1 }, nil) {
            X509_free(certificate)
            count += 1
        }
        // OpenSSL reports the end of the file as an error, too.
        guard gannet_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
            throw InvalidOptions("\(name) cannot be used: its certificate number \(count + 1) is damaged.")
        }
        guard count > 0 else {
            throw InvalidOptions("\(name) holds no certificate in PEM form, which begins with '-----BEGIN CERTIFICATE-----'.")
        }
    }
}
