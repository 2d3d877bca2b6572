internal import RedisClient

/// The scripts, one for each transition of the cluster's state, as they lie in `Scripts/`.
enum ClusterScripts {
    static let enqueue = RedisScript(String(decoding: PackageResources.enqueue_lua, as: UTF8.self))
    static let claim = RedisScript(String(decoding: PackageResources.claim_lua, as: UTF8.self))
    static let reclaim = RedisScript(String(decoding: PackageResources.reclaim_lua, as: UTF8.self))
    static let renew = RedisScript(String(decoding: PackageResources.renew_lua, as: UTF8.self))
    static let settle = RedisScript(String(decoding: PackageResources.settle_lua, as: UTF8.self))
}
