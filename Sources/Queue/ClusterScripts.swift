internal import GannetBase
internal import GannetRedisClient

/// The scripts of `Scripts/`, one for each transition of the state.
///
/// A line that begins with `--@` names the parts that stand in its place.
package struct ClusterScripts: Sendable {
    static let rights = alone(PackageResources.rights_lua)
    static let bodies = alone(PackageResources.bodies_lua)

    let enqueue, exchange, acquire, place, pace, control, commit, audit: RedisScript

    /// How long, about, the parts of a long list are.
    let partBytes: Int

    package static let standard = ClusterScripts(partBytes: 4 << 20)

    /// - Parameter change: Tests plant faults in the text, in which there are neither comments nor indents.
    package init(partBytes: Int, change: (String) -> String = { $0 }) {
        var composer = ScriptComposer()
        func script(_ source: [UInt8]) -> RedisScript {
            RedisScript(change("local PART_BYTES = \(partBytes)\n" + composer.text(of: source)))
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

    private static func alone(_ source: [UInt8]) -> RedisScript {
        var composer = ScriptComposer()
        return RedisScript(composer.text(of: source))
    }
}

/// Puts scripts together from their sources. Most commands begin with this, so it goes over each part once, and over bytes.
private struct ScriptComposer {
    private static let parts: [String: [UInt8]] = [
        "clock": PackageResources.clock_lua, "lists": PackageResources.lists_lua, "blocks": PackageResources.blocks_lua,
        "counts": PackageResources.counts_lua, "hosts": PackageResources.hosts_lua, "rests": PackageResources.rests_lua,
        "turns": PackageResources.turns_lua, "locks": PackageResources.locks_lua, "comeBack": PackageResources.comeBack_lua,
        "settle": PackageResources.settle_lua, "ends": PackageResources.ends_lua, "handOut": PackageResources.handOut_lua,
        "returns": PackageResources.returns_lua, "carryOn": PackageResources.carryOn_lua, "aside": PackageResources.aside_lua,
        "due": PackageResources.due_lua,
    ]

    /// The code of the parts so far, by their names.
    private var known: [String: [UInt8]] = [:]

    mutating func text(of source: [UInt8]) -> String { String(decoding: code(of: source), as: UTF8.self) }

    /// The lines of a script without comments and indents, which Redis would keep and load for nothing.
    private mutating func code(of source: [UInt8]) -> [UInt8] {
        var code: [UInt8] = []
        code.reserveCapacity(source.count)
        source.withUnsafeBytes { bytes in
            guard var line = bytes.baseAddress else { return }
            let end = line + bytes.count
            while line < end {
                let next = memchr(line, 0x0A, end - line).map { UnsafeRawPointer($0) + 1 } ?? end
                defer { line = next }
                while line < next, line.load(as: UInt8.self) == UInt8(ascii: " ") { line += 1 }
                let rest = UnsafeRawBufferPointer(start: line, count: next - line)
                if rest.starts(with: "--@ ".utf8) {
                    for name in String(decoding: rest.dropFirst(4), as: UTF8.self).split(whereSeparator: \.isWhitespace) {
                        code += part(String(name))
                    }
                } else if rest.first != 0x0A, !rest.starts(with: "--".utf8) {
                    code += rest
                }
            }
        }
        return code
    }

    private mutating func part(_ name: String) -> [UInt8] {
        if let code = known[name] { return code }
        guard let source = Self.parts[name] else { fatalError("A script names the part '\(name)', which there is not.") }
        let code = code(of: source)
        known[name] = code
        return code
    }
}
