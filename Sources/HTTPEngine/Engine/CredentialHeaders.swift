extension HeaderField {
    /// Whether the header says who somebody is, so that no other origin may see it. Judged by its name, and rather once too often.
    package var isCredential: Bool {
        let name = name.lowercased()
        return Self.credentialWords.contains { name.contains($0) }
    }

    /// Whether the header is for the one origin that is asked. A trace is no credential, but tells a third party whose request this is a part of.
    var staysWithOrigin: Bool { isCredential || Self.traceNames.contains(name.lowercased()) }

    private static let traceNames: Set = ["traceparent", "tracestate"]
    private static let credentialWords = [
        "auth", "cookie", "token", "secret", "key", "passw", "session", "credential", "signature", "jwt", "csrf", "xsrf",
    ]
}
