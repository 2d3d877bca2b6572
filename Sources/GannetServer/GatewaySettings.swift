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

    package init() {}
}
