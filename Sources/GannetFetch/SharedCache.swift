package import FetchCache

/// What several processes share, such as `RedisCache` of the product `Gannet`.
public struct SharedCache: Sendable {
    package let tier: any SharedTier

    package init(_ tier: any SharedTier) { self.tier = tier }
}
