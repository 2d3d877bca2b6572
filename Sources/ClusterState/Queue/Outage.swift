package import RedisClient

/// Hears of Redis' absence: the error with which a wait for it begins, and `nil` when it has ended well.
package typealias OutageListener = @Sendable (RedisError?) -> Void
