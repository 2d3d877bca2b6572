package import GannetHTTP
package import Results

/// How a gateway answers.
package struct GatewaySettings: Sendable {
    package var access = AccessRules()
    /// Names of headers, in small letters, that are sent on from clients to origins. Answers differ by them.
    package var forwardedHeaders: [String] = []
    /// Names of headers of origins, in small letters, that reach clients besides those that every cache knows.
    package var passedHeaders: Set<String> = []
    /// The queue of `/v1/jobs`.
    package var queue = "default"

    /// Bytes of Redis' memory for bodies, thumbnails among them.
    package var bodyLimit = 1_000_000_000

    /// Bounds the memory of bodies on their way from origins and to clients.
    package var room = BodyRoom(limit: 1_000_000_000)

    /// The batch that the window shows first, where the server belongs to one.
    package var batch: String?
    /// The file of favourite pictures, if there is one.
    package var favourites: String?
    /// The workers' folders of bodies, which are asked before Redis.
    package var stores: [BodyFolder] = []

    /// Where the server belongs to a run: the pictures that were in the run's folder before.
    package var found: FoundPictures?

    package init() {}

    /// Whether a header of clients may be sent on to origins. Some are the fetcher's own, and some ask for a part of a body.
    package static func mayForward(_ name: String) -> Bool { HeaderField(name: name, value: "x").map { !$0.asksForPartOrNews } ?? false }

    /// Whether a header of origins may be handed on to clients. Some are the gateway's own.
    package static func mayPass(_ name: String) -> Bool { AnswerHeaders.mayPass(name.lowercased()) }
}
