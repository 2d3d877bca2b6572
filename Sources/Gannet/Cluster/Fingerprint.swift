internal import HTTPEngine

/// A short name for a row of texts: equal rows have equal names, and others practically never.
package enum Fingerprint {
    package static func of(_ parts: [String]) -> String {
        // With lengths in front, no two different rows run together into one text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return String(SHA256Digest(of: text.utf8).description.prefix(24))
    }
}
