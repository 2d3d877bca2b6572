internal import RedisClient

/// The scripts of this folder, one for each transition of the state. Each script stands behind the parts of `Library/` that it calls.
enum ClusterScripts {
    static let rights = joined([PackageResources.rights_lua])
    static let begin = script(PackageResources.begin_lua)
    static let enqueue = script(PackageResources.enqueue_lua)
    static let cancel = script(PackageResources.cancel_lua)
    static let claim = joined(
        library + [
            PackageResources.request_lua, PackageResources.mending_lua, PackageResources.fates_lua, PackageResources.sources_lua,
            PackageResources.claim_lua,
        ])
    static let reclaim = script(PackageResources.reclaim_lua)
    static let renew = script(PackageResources.renew_lua)
    static let move = script(PackageResources.move_lua)
    static let settle = script(PackageResources.settle_lua)
    static let acquire = script(PackageResources.acquire_lua)
    static let pause = script(PackageResources.pause_lua)
    static let clear = script(PackageResources.clear_lua)
    static let heartbeat = joined(library + [PackageResources.waits_lua, PackageResources.heartbeat_lua])
    static let overview = joined(library + [PackageResources.waits_lua, PackageResources.overview_lua])

    static let auditFlights = auditScript(PackageResources.auditFlights_lua)
    static let auditExpiry = auditScript(PackageResources.auditExpiry_lua)
    static let auditKeys = auditScript(PackageResources.auditKeys_lua)
    static let auditChains = auditScript(PackageResources.auditChains_lua)
    static let auditFreed = auditScript(PackageResources.auditFreed_lua)
    static let auditHosts = auditScript(PackageResources.auditHosts_lua)
    static let auditCounts = auditScript(PackageResources.auditCounts_lua)

    static let explain = script(PackageResources.explain_lua)

    static let listLine = jobsScript(PackageResources.listLine_lua)
    static let listDelayed = jobsScript(PackageResources.listDelayed_lua)
    static let listDead = jobsScript(PackageResources.listDead_lua)
    static let listActive = jobsScript(PackageResources.listActive_lua)
    static let listFollowed = jobsScript(PackageResources.listFollowed_lua)
    static let deleteFromLine = jobsScript(PackageResources.deleteFromLine_lua)
    static let sweepDelayed = jobsScript(PackageResources.sweepDelayed_lua)
    static let sweepDead = jobsScript(PackageResources.sweepDead_lua)

    private static let library = [
        PackageResources.clock_lua, PackageResources.jobs_lua, PackageResources.counts_lua, PackageResources.hosts_lua,
        PackageResources.flights_lua, PackageResources.lines_lua,
    ]

    private static func script(_ source: [UInt8]) -> RedisScript { joined(library + [source]) }
    private static func auditScript(_ source: [UInt8]) -> RedisScript { joined(library + [PackageResources.report_lua, source]) }

    private static func jobsScript(_ source: [UInt8]) -> RedisScript { joined(library + [PackageResources.selecting_lua, source]) }

    private static func joined(_ parts: [[UInt8]]) -> RedisScript {
        RedisScript(parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    }
}

/// The blob store's scripts. Each script stands behind `store.lua`, which all of them call.
enum BlobScripts {
    static let put = script(PackageResources.put_lua)
    static let touch = script(PackageResources.touch_lua)
    static let evict = script(PackageResources.evict_lua)
    static let remove = script(PackageResources.remove_lua)

    private static func script(_ source: [UInt8]) -> RedisScript {
        RedisScript([PackageResources.store_lua, source].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    }
}
