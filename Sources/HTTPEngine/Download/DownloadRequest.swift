/// What to fetch and where its body goes.
public struct DownloadRequest: Sendable, Hashable {
    /// The URL as the user gave it; it is requested like this and not in its canonical form.
    public var url: String
    public var body: BodyDestination
    /// Sent in addition to the engine's own headers. Those that are credentials, and `traceparent`, go to the URL's own origin only.
    public var headers: [HeaderField]

    public init(url: String, body: BodyDestination, headers: [HeaderField] = []) {
        self.url = url
        self.body = body
        self.headers = headers
    }

    /// Whether a part of the body is asked for.
    var asksForPart: Bool { headers.contains { $0.name.lowercased() == "range" } }

    /// Whether "not modified" would be an answer.
    var isConditional: Bool { headers.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) } }
}

/// Where the body of an answer is put.
public enum BodyDestination: Sendable, Hashable {
    /// A new temporary file in the folder.
    case file(in: String)
    /// Memory while it has at most so many bytes, and from there on a new temporary file in the folder.
    case memory(upTo: Int, thenFileIn: String)
}
