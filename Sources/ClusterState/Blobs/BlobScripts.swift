internal import RedisClient

/// The blob store's scripts, each behind the part all of them stand on.
enum BlobScripts {
    static let put = script(PackageResources.put_lua)
    static let touch = script(PackageResources.touch_lua)
    static let evict = script(PackageResources.evict_lua)
    static let remove = script(PackageResources.remove_lua)

    private static func script(_ source: [UInt8]) -> RedisScript {
        RedisScript([PackageResources.store_lua, source].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    }
}
