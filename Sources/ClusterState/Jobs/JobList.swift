/// A list in which jobs lie, by the name that the scripts in `Scripts/Jobs` know it by.
package struct JobList: Sendable, Hashable, Comparable {
    package let name: [UInt8]

    package init(_ name: [UInt8]) { self.name = name }

    static func ready(_ priority: String) -> JobList { JobList(Array("ready:\(priority)".utf8)) }
    static func held(_ priority: String, _ host: String) -> JobList { JobList(Array("held:\(priority):\(host)".utf8)) }

    static let priorities = ["high", "normal", "low"]

    package static func < (one: JobList, other: JobList) -> Bool { one.order.lexicographicallyPrecedes(other.order) }

    /// By priority, the line before what is held of it.
    private var order: [UInt8] {
        for (index, priority) in Self.priorities.enumerated() {
            if name == Self.ready(priority).name { return [UInt8(index)] }
            let held = Self.held(priority, "").name
            if name.starts(with: held) { return [UInt8(index)] + name.dropFirst(held.count) }
        }
        return name
    }
}

/// What one look at a part of the queue brought.
package struct JobLook<Position: Sendable>: Sendable {
    /// Jobs whose URL is no text are counted and left out.
    package let jobs: [ListedJob]
    package let count: Int

    /// Where to go on; `nil` at the end.
    package let next: Position?
}
