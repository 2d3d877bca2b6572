/// A part of the system that takes strangers' input, and the invariant that must hold for any input.
struct FuzzTarget: Sendable {
    let name: String
    /// In bytes; longer inputs find little more and take longer.
    let maximumLength: Int
    /// Inputs to begin with.
    let seeds: @Sendable () -> [[UInt8]]
    /// Throws when the invariant does not hold.
    let check: @Sendable ([UInt8]) throws(BrokenInvariant) -> Void
    /// Starts the servers that the checks need.
    var prepare: @Sendable () async throws -> Void = {}

    static let all: [FuzzTarget] = [
        .canonicaliser, .redirects, .headers, .decoders, .images, .lists, .state, .replies, .files, .cached, .gateway, .names, .dns,
        .robots, .optOuts,
        .archiveRecovery,
    ]
}

/// The broken invariant, as a sentence.
struct BrokenInvariant: Error, CustomStringConvertible {
    let description: String
}

func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(BrokenInvariant) {
    if !condition { throw BrokenInvariant(description: sentence()) }
}
