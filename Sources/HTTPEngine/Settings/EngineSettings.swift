/// Fetch settings after the check, their texts read. One object for all transfers, so that none copies it.
final class EngineSettings: Sendable {
    let fetch: FetchSettings
    let proxy: ProxyAddress?
    let addressGuard: AddressGuard
    let answerTimeout: Duration

    init(_ settings: FetchSettings) throws(InvalidOptions) {
        fetch = settings
        answerTimeout = settings.answerTimeout ?? max(.milliseconds(1), settings.timeout / 2)
        // `map` with typed throws needs its closure annotated.
        if let address = settings.proxy { proxy = try ProxyAddress(address) } else { proxy = nil }
        addressGuard = try AddressGuard(parsing: settings.allowedNetworks)
        try check()
    }

    private func check() throws(InvalidOptions) {
        for (name, time) in [
            ("timeout", fetch.timeout), ("connect timeout", fetch.connectTimeout), ("time for an answer", answerTimeout),
            ("window of the minimum speed", fetch.minimumSpeedWindow),
        ] {
            try require(FetchSettings.times.contains(time), "The \(name) must be from 1 millisecond to 7 days.")
        }
        try require(fetch.minimumSpeedWindow >= .seconds(1), "The window of the minimum speed must be at least 1 second.")
        try require((0...Int(Int32.max)).contains(fetch.minimumSpeed), "The minimum speed must be from 0 to \(Int32.max) bytes.")
        try require(FetchSettings.bodySizes.contains(Int(clamping: fetch.maximumBody)), "The largest body must be from 1 byte to 1 TB.")
        try require((1024...(64 << 20)).contains(fetch.maximumHeaders), "The header limit must be from 1 KiB to 64 MiB.")
        try require((0...100).contains(fetch.maximumRedirects), "The redirect limit must be from 0 to 100.")
        try require((1...65_536).contains(fetch.maximumInFlight), "From 1 to 65,536 transfers can be in flight.")
        try require((1...1_000_000).contains(fetch.maximumLookUps), "The look-ups at a time must be from 1 to 1000000.")
        _ = try fetch.resolver.validatedServers()
        if let userAgent = fetch.userAgent {
            let isSendable = !userAgent.isEmpty && HeaderField(name: "User-Agent", value: userAgent) != nil
            try require(isSendable, "The user agent must be 1 to 8192 bytes long, without control characters.")
        }
        if let caFile = fetch.caFile { try AuthorityFile.check(caFile) }
    }

    private func require(_ condition: Bool, _ sentence: String) throws(InvalidOptions) {
        guard condition else { throw InvalidOptions(sentence) }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up: libcurl takes 0 as "no limit".
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
