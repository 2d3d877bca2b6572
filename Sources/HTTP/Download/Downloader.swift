/// Fetches one URL into one file.
package protocol Downloader: Sendable {
    /// Requests the URL and stores the body of a successful answer (status 200 to 299) in a new file, which is then the caller's.
    ///
    /// When it throws, and when the task is cancelled, no file is left behind and the connection of an unfinished transfer is closed.
    /// - Parameter gate: Is asked before a redirect is followed.
    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download

    /// The same for callers that wait in great numbers: a task keeps room for the result that it waits for.
    func end(of request: DownloadRequest, through gate: (any HopGate)?) async -> DownloadEnd

    /// How long the steps of its transfers wait for the processor.
    var lag: Duration { get }
}

extension Downloader {
    package func download(_ request: DownloadRequest) async throws(FetchError) -> Download { try await download(request, through: nil) }

    package func end(of request: DownloadRequest, through gate: (any HopGate)?) async -> DownloadEnd {
        do throws(FetchError) {
            return DownloadEnd(.success(try await download(request, through: gate)))
        } catch {
            return DownloadEnd(.failure(error))
        }
    }

    package var lag: Duration { .zero }
}

/// A redirect that a transfer is about to follow.
package struct NextHop: Sendable, Hashable {
    package var from: CanonicalURL
    package var to: CanonicalURL

    package init(from: CanonicalURL, to: CanonicalURL) {
        self.from = from
        self.to = to
    }

    package var isElsewhere: Bool { from.host != to.host }
}

/// Decides when a request may follow a redirect.
package protocol HopGate: Sendable {
    /// Whether the gate is asked before each redirect, and not only before a redirect to another host.
    var asksAtEachHop: Bool { get }

    /// Waits until a transfer may follow the redirect. The transfer has no connection meanwhile. False ends it as cancelled.
    func admits(_ hop: NextHop) async -> Bool
}

extension HopGate {
    package var asksAtEachHop: Bool { false }
}

/// The result of a download. An object, because it passes through many hands and takes much room.
package final class DownloadEnd: Sendable {
    package let result: Result<Download, FetchError>

    package init(_ result: Result<Download, FetchError>) { self.result = result }
}

/// A URL to fetch, and the place for its body.
package struct DownloadRequest: Sendable {
    /// The URL as the user gave it. It is requested as the URL standard writes it.
    package var url: String
    package var body: BodyDestination
    /// Sent in addition to the engine's own headers. Credentials, and `traceparent`, go to the URL's own origin only.
    package var headers: [HeaderField]
    /// Hears of the bytes that come. The engine's thread calls it, so it must be quick.
    package var progress: ProgressListener?
    /// Gets the body of a successful answer while it comes. It goes with a body in memory.
    package var growing: GrowingBody?
    /// Sees the head of the final answer, if that is a success, before its body is taken. A reason ends the transfer as `disallowed`. The
    /// engine's thread calls it, so it must be quick.
    package var refusal: (@Sendable (ResponseHeaders) -> String?)?
    /// Where the body is cut, in bytes. The rest of a longer body is not received, and the transfer counts as complete.
    package var cut: Int?
    /// Gets the exchanges as they go over the wire. It serves one download at a time.
    package var wire: WireRecord?

    package init(url: String, body: BodyDestination, headers: [HeaderField] = [], progress: ProgressListener? = nil) {
        self.url = url
        self.body = body
        self.headers = headers
        self.progress = progress
    }

    /// The largest body that is accepted. A body that is cut may be as long as it likes.
    func mostOfBody(_ settings: FetchSettings) -> Int64 {
        cut == nil ? settings.maximumBody : Int64(FetchSettings.bodySizes.upperBound)
    }

    /// Whether a part of the body is asked for.
    var asksForPart: Bool { headers.contains { $0.name.lowercased() == "range" } }

    /// Whether "not modified" would be an answer.
    package var isConditional: Bool { headers.contains { ["if-none-match", "if-modified-since"].contains($0.name.lowercased()) } }
}

/// Hears how much of a body has come.
package typealias ProgressListener = @Sendable (FetchProgress) -> Void

/// How much of a body has come.
public struct FetchProgress: Sendable, Hashable {
    /// Bytes that have come so far, as they were sent: a packed body is counted packed.
    public var received: Int64
    /// The length that the answer announced; nil without one.
    public var expected: Int64?

    public init(received: Int64 = 0, expected: Int64? = nil) {
        self.received = received
        self.expected = expected
    }

    /// The part that has come, from 0 to 1; nil when the length is unknown.
    public var fraction: Double? {
        guard let expected else { return nil }
        return expected > 0 ? min(1, Double(received) / Double(expected)) : 1
    }
}

/// The place for the body of an answer.
package enum BodyDestination: Sendable, Hashable {
    /// A new file in the folder, which the caller gives its final name. It is as readable as other files from the beginning. A body of at
    /// most `beyond` bytes stays in memory, so that the engine's thread does not wait for the making of a small file.
    case file(in: String, beyond: Int = 0)
    /// Memory for a body of at most so many bytes, and for a longer one a new temporary file in the folder, readable by its owner only.
    case memory(upTo: Int, thenFileIn: String)
}

/// Prints without passwords, in a log, in a dump, or as a part of something else.
extension DownloadRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { customMirror.printed }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["url": RedactedURL(url).description, "body": body, "headers": headers], displayStyle: .struct)
    }
}
