/// What bodies' files are called. Every name has its URL's id in it, and a folder of the id's first three digits is on its way, so that
/// 10 million bodies are some 2500 to a folder.
package enum NameStyle: String, Sendable, CaseIterable {
    /// `3fa/3fa94c…-cat.jpg`
    case hash
    /// `example.com/3fa/pets/3fa94c…-cat.jpg`
    case path
    /// `example.com/3fa/3fa94c…-cat.jpg`
    case host
}
