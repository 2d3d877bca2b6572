/// A URL to fetch, as a producer hands it over.
package struct JobEntry: Sendable, Equatable {
    package let id: URLID

    /// The host whose limits apply to the job.
    package let host: String
    package let url: String

    package static let longestURL = 8192
    package static let longestHost = 255

    /// - Throws: `StateError.invalid` for a URL or a host that the format cannot hold.
    package init(id: URLID, host: String, url: String) throws(StateError) {
        var host = host
        guard !url.isEmpty, url.utf8.count <= Self.longestURL else {
            throw .invalid("A URL has 1 to \(Self.longestURL) bytes; this one has \(url.utf8.count).")
        }
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else {
            throw .invalid("A host has 1 to \(Self.longestHost) bytes; this one has \(host.utf8.count).")
        }
        guard host.withUTF8({ $0.allSatisfy { $0 > 0x20 && $0 != 0x7f } }) else {
            throw .invalid("A host has no spaces or control characters.")
        }
        self.init(checked: id, host, url)
    }

    /// An entry that was checked when it was enqueued.
    init(checked id: URLID, _ host: String, _ url: String) {
        self.id = id
        self.host = host
        self.url = url
    }
}
