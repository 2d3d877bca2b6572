import Foundation

/// Chunks in, lines out, in memory that does not grow with the input: at most one line is held back, and never more than the limit.
struct LineSplitter: Sendable {
    /// The longest line that is kept; what is longer is skipped to its end and reported by its number.
    let limit: Int
    private var number = 0
    private var held: [UInt8] = []
    private var isOverlong = false

    init(limit: Int = 1 << 20) {
        self.limit = limit
    }

    /// The lines that end within `chunk`.
    mutating func take(_ chunk: UnsafeRawBufferPointer, into lines: inout [InputLine]) {
        var rest = chunk[...]
        while !rest.isEmpty {
            let bytes = UnsafeRawBufferPointer(rebasing: rest)
            guard let base = bytes.baseAddress, let found = memchr(base, 0x0A, bytes.count) else {
                hold(bytes)
                return
            }
            let length = UnsafeRawPointer(found) - base
            let line = UnsafeRawBufferPointer(rebasing: bytes[..<length])
            if held.isEmpty, !isOverlong {
                end(line, into: &lines)
            } else {
                hold(line)
                endHeld(into: &lines)
            }
            rest = rest.dropFirst(length + 1)
        }
    }

    /// The last line, when the input does not end with a line break.
    mutating func finish(into lines: inout [InputLine]) {
        if !held.isEmpty || isOverlong { endHeld(into: &lines) }
    }

    /// One byte more than the limit is kept, for a carriage return that will be dropped.
    private mutating func hold(_ bytes: UnsafeRawBufferPointer) {
        guard !isOverlong else { return }
        if held.count + bytes.count > limit + 1 {
            isOverlong = true
            held = []
        } else {
            held.append(contentsOf: bytes)
        }
    }

    private mutating func endHeld(into lines: inout [InputLine]) {
        let line = held
        held = []
        if isOverlong {
            isOverlong = false
            number += 1
            lines.append(InputLine(number: number, content: .invalid(.tooLong(limit: limit))))
        } else {
            line.withUnsafeBytes { end($0, into: &lines) }
        }
    }

    private mutating func end(_ bytes: UnsafeRawBufferPointer, into lines: inout [InputLine]) {
        number += 1
        var line = bytes[...]
        if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if line.last == 0x0D { line = line.dropLast() }
        guard line.count <= limit else {
            lines.append(InputLine(number: number, content: .invalid(.tooLong(limit: limit))))
            return
        }
        while let first = line.first, first == 0x20 || first == 0x09 { line = line.dropFirst() }
        while let last = line.last, last == 0x20 || last == 0x09 { line = line.dropLast() }
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        guard !line.contains(0) else {
            lines.append(InputLine(number: number, content: .invalid(.nul)))
            return
        }
        lines.append(InputLine(number: number, content: .text(Array(line))))
    }
}
