package import HTTPEngine

/// How a ``DiskTier`` keeps what it is given.
package struct DiskTierOptions: Sendable {
    /// How large it may be, and how it works with files.
    package var folder = FolderOptions()
    /// Bytes of the largest metadata.
    package var maximumMetadata = 64 << 10

    package init() {}

    package func validate() throws(InvalidOptions) {
        try folder.validate()
        guard (0...(16 << 20)).contains(maximumMetadata) else {
            throw InvalidOptions("The largest metadata has 0 to \(16 << 20) bytes.")
        }
    }
}
