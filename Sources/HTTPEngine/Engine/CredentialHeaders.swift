extension HeaderField {
    /// Whether the header says who somebody is, so that no other origin may see it. Judged by its name, and rather once too often.
    package var isCredential: Bool {
        let name = name.lowercased()
        return Self.credentialWords.contains { name.contains($0) }
    }

    private static let credentialWords = [
        "auth", "cookie", "token", "secret", "key", "passw", "session", "credential", "signature", "jwt", "csrf", "xsrf",
    ]
}
