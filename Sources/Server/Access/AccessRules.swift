internal import GannetBase
internal import GannetHTTP

/// Decides who may ask for what.
///
/// A page of another site must not reach the server through its visitor's browser: `GET /v1/fetch` has effects, and needs no reading of the
/// answer. Browsers say where a request comes from (`Origin`, `Sec-Fetch-Site`). A name that an attacker points at this machine shows in
/// `Host`. Where tokens are needed, a page cannot know one.
package struct AccessRules: Sendable {
    package var tokens: [Token] = []
    /// Names and addresses under which clients ask, without ports, in small letters. Needed where no token is.
    package var hosts = Self.ownHosts
    package var isReadOnly = false
    /// Whether browsers reach the server over TLS, its own or that of a proxy.
    package var hasTLS = false

    package init() {}

    /// Browsers trust these without TLS, so they always say where a request to one of them comes from.
    private static let ownHosts: Set = ["localhost", "127.0.0.1", "[::1]"]

    /// The holder of the request, by the index of its token; nil where none is needed.
    package func check(_ request: HTTPServiceRequest, _ endpoint: Endpoint) throws(Problem) -> Int? {
        let host = request.header("host")?.lowercased() ?? ""
        let name = Self.name(of: host)
        try checkOrigin(request, host, name)
        if endpoint.hasEffects { try checkSilence(request, name) }
        if isReadOnly, endpoint.hasEffects {
            throw Problem(
                403, "read-only", "This server is for reading alone ('--read-only'): it changes nothing and fetches nothing.",
                rule: .readOnly)
        }
        if tokens.isEmpty || endpoint.isOpen { return nil }
        if request.header("authorization") == nil, let holder = session(request) {
            // A cookie goes along with whatever a browser sends. To a name without TLS it sends an image's request of another port of this
            // host without a word about the page.
            if endpoint.hasEffects, request.header("origin") == nil, request.header("sec-fetch-site") == nil { throw Self.foreign }
            return holder
        }
        guard let shown = Self.bearer(request), let holder = Token.find(shown, in: tokens) else {
            var problem = Problem(401, "unauthorized", "Send a token of this server: 'Authorization: Bearer …'.", rule: .token)
            problem.headers = [("WWW-Authenticate", "Bearer")]
            throw problem
        }
        return holder
    }

    /// The cookies of browsers that have signed in.
    var cookies: SessionCookie { SessionCookie(isSecure: hasTLS) }

    /// The index of the token with which the request's browser has signed in.
    func session(_ request: HTTPServiceRequest) -> Int? {
        cookies.holder(request, in: tokens, now: Moment.now.millisecondsSince1970 / 1000)
    }

    private func checkOrigin(_ request: HTTPServiceRequest, _ host: String, _ name: String) throws(Problem) {
        if tokens.isEmpty, !hosts.contains(name) {
            throw Problem(
                421, "wrong-host",
                "This server does not answer for this 'Host'. Name it with '--host-name', or ask for 127.0.0.1 or localhost.", rule: .host)
        }
        if let origin = request.header("origin"), !["http://\(host)", "https://\(host)"].contains(origin.lowercased()) {
            throw Self.foreign
        }
        if let site = request.header("sec-fetch-site"), !["same-origin", "none"].contains(site.lowercased()) { throw Self.foreign }
    }

    /// To a name without TLS, browsers send an image's request with neither `Origin` nor `Sec-Fetch-Site`. No page can hide that a browser sends it.
    private func checkSilence(_ request: HTTPServiceRequest, _ name: String) throws(Problem) {
        guard tokens.isEmpty, !Self.ownHosts.contains(name), request.header("origin") == nil, request.header("sec-fetch-site") == nil else {
            return
        }
        if request.header("user-agent")?.lowercased().hasPrefix("mozilla/") == true {
            throw Problem(
                403, "foreign-page",
                "Without TLS a browser does not say which page asks this 'Host'. Ask for 127.0.0.1, put TLS in front, or use tokens.",
                rule: .origin)
        }
    }

    private static let foreign = Problem(403, "foreign-page", "A page of another site may not ask this server.", rule: .origin)

    /// Without the port; empty where something else than a port follows.
    private static func name(of host: String) -> String {
        let bytes = host.utf8
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if bytes.first == UInt8(ascii: "[") {
            end = bytes.firstIndex(of: UInt8(ascii: "]")).map { bytes.index(after: $0) } ?? bytes.endIndex
        }
        let port = bytes[end...]
        let isPort = port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy { 0x30...0x39 ~= $0 }
        return port.isEmpty || isPort ? String(host[..<end]) : ""
    }

    private static func bearer(_ request: HTTPServiceRequest) -> String? {
        let values = request.headers("authorization")
        guard values.count == 1 else { return nil }
        let words = values[0].split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}
