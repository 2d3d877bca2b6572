internal import GannetRedisClient

/// The scripts of `Scripts/`, one for each transition of the state.
///
/// A line that begins with `--@` names the parts that stand in its place.
package struct ClusterScripts: Sendable {
    static let rights = RedisScript(text(of: PackageResources.rights_lua))
    static let bodies = RedisScript(text(of: PackageResources.bodies_lua))

    let enqueue, exchange, acquire, place, pace, control, commit, audit: RedisScript

    /// How long, about, the parts of a long list are.
    let partBytes: Int

    package static let standard = ClusterScripts(partBytes: 4 << 20)

    /// - Parameter change: Tests plant faults in the text, in which there are neither comments nor indents.
    package init(partBytes: Int, change: (String) -> String = { $0 }) {
        func script(_ source: [UInt8]) -> RedisScript {
            RedisScript(change("local PART_BYTES = \(partBytes)\n" + Self.text(of: source)))
        }
        self.partBytes = partBytes
        enqueue = script(PackageResources.enqueue_lua)
        exchange = script(PackageResources.exchange_lua)
        acquire = script(PackageResources.acquire_lua)
        place = script(PackageResources.place_lua)
        pace = script(PackageResources.pace_lua)
        control = script(PackageResources.control_lua)
        commit = script(PackageResources.commit_lua)
        audit = script(PackageResources.audit_lua)
    }

    private static let parts: [Substring: [UInt8]] = [
        "clock": PackageResources.clock_lua, "lists": PackageResources.lists_lua, "blocks": PackageResources.blocks_lua,
        "counts": PackageResources.counts_lua, "hosts": PackageResources.hosts_lua, "rests": PackageResources.rests_lua,
        "turns": PackageResources.turns_lua, "locks": PackageResources.locks_lua, "comeBack": PackageResources.comeBack_lua,
        "settle": PackageResources.settle_lua, "ends": PackageResources.ends_lua, "handOut": PackageResources.handOut_lua,
        "returns": PackageResources.returns_lua, "carryOn": PackageResources.carryOn_lua, "aside": PackageResources.aside_lua,
        "due": PackageResources.due_lua,
    ]

    private static func text(of source: [UInt8]) -> String { lines(of: source).joined(separator: "\n") }

    /// The lines of a script without comments and indents, which Redis would keep and load for nothing.
    private static func lines(of source: [UInt8]) -> [Substring] {
        let text = String(decoding: source, as: UTF8.self)
        return text.split(separator: "\n").flatMap { line -> [Substring] in
            let code = line.drop { $0 == " " }
            if code.hasPrefix("--@ ") {
                return code.dropFirst(4).split(separator: " ").flatMap { name -> [Substring] in
                    guard let part = parts[name] else { fatalError("A script names the part '\(name)', which there is not.") }
                    return lines(of: part)
                }
            }
            return code.hasPrefix("--") ? [] : [code]
        }
    }
}
