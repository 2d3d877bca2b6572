/// What became of a body that was to be stored.
package enum BlobPutAnswer: Sendable, Equatable {
    case stored
    /// It was there; its use is noted.
    case present
    /// Larger than any body may be, or than the whole store.
    case tooLarge
    /// The store is a quarter above its limit, and what it holds was used too lately to go. Nothing was stored.
    case full
}
