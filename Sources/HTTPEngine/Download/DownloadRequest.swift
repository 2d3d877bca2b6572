/// What to fetch and where its body goes.
package struct DownloadRequest: Sendable, Hashable {
    /// The URL as the user gave it; it is requested like this and not in its canonical form.
    package var url: String
    /// The folder in which the body's temporary file is created.
    package var bodyFolder: String
    /// Sent in addition to the engine's own headers.
    package var headers: [HeaderField]

    package init(url: String, bodyFolder: String, headers: [HeaderField] = []) {
        self.url = url
        self.bodyFolder = bodyFolder
        self.headers = headers
    }
}
