extension DownloaderOptions {
    /// Throws when a value could not be meant or could not be given to libcurl.
    package func validate() throws(Invalid) {
        try validate("timeout", timeout)
        try validate("connect timeout", connectTimeout)
        try validate("time for an answer", answerTimeout)
        try validate("window of the minimum speed", minimumSpeedWindow)
        guard minimumSpeedWindow >= .seconds(1) else { throw Invalid("The window of the minimum speed must be at least 1 second.") }
        guard (0...Int(Int32.max)).contains(minimumSpeed) else { throw Invalid("The minimum speed must be from 0 to \(Int32.max) bytes.") }
        guard maximumBody > 0, maximumBody < Int64.max else { throw Invalid("The largest body must be at least 1 byte.") }
        guard (1024...(64 << 20)).contains(maximumHeaders) else { throw Invalid("The header limit must be from 1 KiB to 64 MiB.") }
        guard (0...100).contains(maximumRedirects) else { throw Invalid("The redirect limit must be from 0 to 100.") }
        guard (1...100_000).contains(maximumInFlight) else { throw Invalid("The transfers in flight must be from 1 to 100000.") }
        guard (1...1_000_000).contains(maximumLookUps) else { throw Invalid("The look-ups at a time must be from 1 to 1000000.") }
        do throws(ResolverOptions.Invalid) {
            _ = try resolver.validatedServers()
        } catch {
            throw Invalid(description: error.description)
        }
        guard HeaderField(name: "User-Agent", value: userAgent) != nil, !userAgent.isEmpty else {
            throw Invalid("The user agent must be 1 to 8192 bytes long, without control characters.")
        }
        if let caFile { try AuthorityFile.check(caFile) }
    }

    private func validate(_ name: String, _ duration: Duration) throws(Invalid) {
        guard duration >= .milliseconds(1), duration <= .seconds(7 * 86_400) else {
            throw Invalid("The \(name) must be from 1 millisecond to 7 days.")
        }
    }
}

extension DownloaderOptions.Invalid {
    fileprivate init(_ description: String) { self.init(description: description) }
}

extension Duration {
    /// Whole milliseconds, rounded up: libcurl takes 0 as "no limit".
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
