/// What a `CurlDownloader` may do and when it gives up.
package struct DownloaderOptions: Sendable {
    /// The whole transfer, look-ups and redirects included.
    package var timeout: Duration = .seconds(60)
    /// How hosts' names are looked up, and for how long.
    package var resolver = ResolverOptions()
    /// TCP and TLS of one connection.
    package var connectTimeout: Duration = .seconds(10)
    /// From a request to the end of its answer's headers, for each hop.
    package var answerTimeout: Duration = .seconds(30)
    /// A transfer slower than this many bytes a second throughout `minimumSpeedWindow` is given up; 0 permits any speed.
    package var minimumSpeed = 100
    /// See `minimumSpeed`; whole seconds.
    package var minimumSpeedWindow: Duration = .seconds(30)
    /// The largest body in bytes, packed and unpacked; an announced length above it is refused before the first byte.
    package var maximumBody: Int64 = 100_000_000
    /// The most bytes of response headers, over all redirects of one transfer.
    package var maximumHeaders = 256 * 1024
    /// How many redirects are followed; 0 follows none.
    package var maximumRedirects = 10
    /// Sent with every request. Honest by default; put a way to reach you in it when you fetch much.
    package var userAgent = "Gannet/0.1"
    /// A PEM file of certificate authorities to trust instead of the system's.
    package var caFile: String?
    /// Through whom to go; without one, and whatever the environment says, origins are connected to.
    package var proxy: ProxyAddress?
    /// Which addresses may be connected to; behind a proxy that is the proxy's to say.
    package var addressGuard = AddressGuard()
    /// How many transfers run at a time; more wait in the order they came.
    package var maximumInFlight = 1024
    /// How many have their host looked up, or are done with that and wait for a place.
    package var maximumLookUps = 16_384

    package init() {}

    /// Why options cannot be used, as a sentence.
    package struct Invalid: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }
}
