internal import GannetBase

/// A body while it comes, for readers who do not wait for its end. Any number of readers follow it, each from its beginning and at its own
/// speed. A reader never slows the transfer down, so the body stays in memory as a whole.
package final class GrowingBody: Sendable {
    package struct Head: Sendable {
        package let finalURL: String
        package let status: Int
        package let headers: ResponseHeaders
        /// The length of the whole body, where the answer tells it and does not compress it.
        package let length: Int?
    }

    package enum Failure: Error, Sendable {
        /// The transfer has failed or was cancelled: the bytes that came are not the whole.
        case incomplete
    }

    private struct State {
        var head: Head?
        var bytes: [UInt8] = []
        /// How it has ended; nil before.
        var isWhole: Bool?
        /// Is held as long as the bytes.
        var claim: BodyClaim?
        var readers: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var last: UInt64 = 0

        mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
            defer { readers = [:] }
            return Array(readers.values)
        }
    }

    private static let mostAtOnce = 256 << 10

    private let state = Mutex(State())

    package init() {}

    // MARK: For the engine's thread

    /// The headers have come, and a body follows.
    package func begin(_ head: Head, in memory: [UInt8], _ claim: BodyClaim? = nil) {
        state.withLock { state in
            state.head = head
            state.claim = claim
            state.bytes = memory
        }
    }

    /// More of the body has come.
    package func append(_ new: UnsafeRawBufferPointer) {
        let readers = state.withLock { state in
            state.bytes.append(contentsOf: new)
            return state.readers.isEmpty ? [] : state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    /// The body is whole.
    package func finish() -> [UInt8] {
        let (bytes, readers) = state.withLock { state in
            state.isWhole = state.isWhole ?? true
            return (state.bytes, state.takeReaders())
        }
        for reader in readers { reader.resume() }
        return bytes
    }

    /// The transfer has ended without the whole body. After the end of a whole one this changes nothing.
    package func fail() {
        let readers = state.withLock { state in
            state.isWhole = state.isWhole ?? false
            return state.takeReaders()
        }
        for reader in readers { reader.resume() }
    }

    // MARK: For readers

    /// Waits until so many bytes have come. Returns `nil` when the body ends before, in whatever way, and when the task is cancelled.
    package func head(after count: Int) async -> Head? {
        while !Task.isCancelled {
            let (head, seen, hasEnded) = state.withLock { ($0.head, $0.bytes.count, $0.isWhole != nil) }
            if hasEnded { return nil }
            if let head, seen >= count { return head }
            await more(than: seen)
        }
        return nil
    }

    /// The next bytes behind the first `offset`; nil at the end of the whole body.
    package func next(after offset: Int) async throws(Failure) -> [UInt8]? {
        while !Task.isCancelled {
            let (piece, isWhole) = state.withLock { state -> ([UInt8], Bool?) in
                (Array(state.bytes.dropFirst(offset).prefix(Self.mostAtOnce)), state.isWhole)
            }
            if !piece.isEmpty { return piece }
            switch isWhole {
            case true?: return nil
            case false?: throw .incomplete
            case nil: await more(than: offset)
            }
        }
        throw .incomplete
    }

    /// Waits for a change, unless there are more bytes than these already.
    private func more(than offset: Int) async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isThere = state.withLock { state in
                    if state.isWhole != nil || Task.isCancelled || state.bytes.count > offset { return true }
                    state.readers[number] = reader
                    return false
                }
                if isThere { reader.resume() }
            }
        } onCancel: {
            state.withLock { $0.readers.removeValue(forKey: number) }?.resume()
        }
    }
}
