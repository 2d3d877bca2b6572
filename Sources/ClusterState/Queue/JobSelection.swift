/// Jobs that somebody who looks after the queue wants to see, or to do something about.
package struct JobSelection: Sendable, Equatable {
    package var state: JobState
    package var filter: JobFilter

    package init(_ state: JobState, _ filter: JobFilter = .init()) {
        self.state = state
        self.filter = filter
    }
}

/// Where a listing goes on: opaque to whoever keeps it.
package struct JobCursor: Sendable, Equatable {
    /// Its list by name, empty in states without one; a place in it, or Redis' own cursor.
    let list: [UInt8]
    let position: UInt64

    package var text: String {
        let name = list.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        return "\(position)-\(name)"
    }

    init(list: [UInt8] = [], position: UInt64) {
        self.list = list
        self.position = position
    }

    /// Where a listing begins.
    package init() { self.init(position: 0) }

    /// `nil` for what `text` never was.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, let position = UInt64(String(decoding: parts[0], as: UTF8.self)), position < 1 << 53,
            parts[1].count.isMultiple(of: 2), !text.utf8.contains(UInt8(ascii: "+"))
        else { return nil }
        var list: [UInt8] = []
        let digits = Array(parts[1])
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
            list.append(byte)
        }
        self.init(list: list, position: position)
    }
}

/// A part of a listing.
package struct JobPage: Sendable {
    package let jobs: [ListedJob]

    /// Queue time, ms.
    package let now: Int
    package let next: JobCursor?
}
