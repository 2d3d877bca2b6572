internal import GannetBase

/// The lines that a child has written so far, and a way to wait for a line.
package final class LineLog: Sendable {
    private struct State: Sendable {
        var lines: [String] = []
        /// The bytes after the last newline.
        var rest: [UInt8] = []
        var byteCount = 0
        var isFinished = false
    }

    private let state = Monitor(State())

    package init() {}

    /// More than this is read and thrown away, so that a child that never stops talking cannot eat the machine.
    private static let byteLimit = 256 << 20

    /// The lines so far, the unfinished last one included, without their newlines.
    package var lines: [String] {
        state.update { $0.rest.isEmpty ? $0.lines : $0.lines + [String(decoding: $0.rest, as: UTF8.self)] }
    }

    /// All output so far as it was written.
    package var text: String {
        state.update { state in
            state.lines.map { "\($0)\n" }.joined() + String(decoding: state.rest, as: UTF8.self)
        }
    }

    /// The next line, from number `start` on, that satisfies `isWanted`; nil when the output ended without one.
    package func line(from start: Int = 0, where isWanted: @escaping @Sendable (String) -> Bool) async throws -> String? {
        // Where to go on looking; only ever touched under the lock of `state`.
        let next = Mutex(start)
        return try await state.wait { state -> String?? in
            let first = min(next.withLock { $0 }, state.lines.count)
            if let line = state.lines[first...].first(where: isWanted) { return .some(line) }
            let count = state.lines.count
            next.withLock { $0 = max($0, count) }
            guard state.isFinished else { return nil }
            let rest = String(decoding: state.rest, as: UTF8.self)
            return .some(!rest.isEmpty && isWanted(rest) ? rest : nil)
        }
    }

    /// Waits until the child, and everyone who inherited its output, has closed it.
    package func finished() async throws {
        try await state.wait { $0.isFinished ? () : nil }
    }

    /// Reads `descriptor` to its end on a thread, and closes it.
    package func collect(from descriptor: Int32) {
        OwnedThread.start(name: "test-kit") { [self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                append(Array(buffer[..<count]))
            }
            close(descriptor)
            finish()
        }
    }

    package func finish() {
        state.update { $0.isFinished = true }
    }

    private func append(_ bytes: [UInt8]) {
        state.update { state in
            guard state.byteCount < Self.byteLimit else { return }
            state.byteCount += bytes.count
            var pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let last = pieces.removeLast()
            for piece in pieces {
                state.lines.append(String(decoding: state.rest + piece, as: UTF8.self))
                state.rest = []
            }
            state.rest += last
        }
    }
}
