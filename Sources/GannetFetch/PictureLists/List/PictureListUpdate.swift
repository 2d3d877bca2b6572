/// The state of a list at one moment: all that a view needs to draw it.
public struct PictureListUpdate<Content: Sendable>: Sendable {
    /// The pictures in their order, and their sections.
    public let contents: PictureContents

    /// Whether the reader has not yet seen these contents.
    public let isRearranged: Bool

    /// The cells that do not wait. All of them are near the screen.
    public let cells: [Picture.ID: CellState<Content>]

    /// The cells whose state the reader has not yet seen, in the order of the list. Of cells that were removed, those that it has seen.
    public let changed: [Picture.ID]

    /// Whether nothing is under way: each cell on the screen and ahead of it has its picture, or has failed.
    public let isSettled: Bool

    let seen: SeenByReader

    /// The state of a cell.
    public subscript(_ id: Picture.ID) -> CellState<Content> { cells[id] ?? .waiting }
}

/// Prints how much there is. Cells have their picture's `id`, which may be a URL with a password.
extension PictureListUpdate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "contents": contents, "isRearranged": isRearranged, "cells": cells.count, "changed": changed.count, "isSettled": isSettled,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}

/// The parts of a list that a reader has seen, by the numbers of their changes. It names no more cells than are near the screen.
struct SeenByReader: Sendable, Equatable {
    var contents: UInt64?
    var cells: [Picture.ID: UInt64] = [:]
    var isSettled = false
}

/// The changes of a list, for one reader or several.
///
/// A reader gets the whole state first, and then the latest state after each change. A slow reader misses states in between, and nothing
/// piles up for it. The sequence ends when the list is freed.
public struct PictureListUpdates<Content: Sendable>: AsyncSequence, Sendable {
    public typealias Element = PictureListUpdate<Content>
    public typealias Failure = Never

    let readers: Relay<Void>
    let look: @Sendable (SeenByReader) async -> Element?

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(signals: readers.stream().makeAsyncIterator(), look: look)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var signals: AsyncStream<Void>.Iterator
        let look: @Sendable (SeenByReader) async -> Element?
        private var seen = SeenByReader()

        init(signals: AsyncStream<Void>.Iterator, look: @escaping @Sendable (SeenByReader) async -> Element?) {
            self.signals = signals
            self.look = look
        }

        /// The latest state, as soon as it differs from the one before; `nil` when the list is gone or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
            while await signals.next(isolation: actor) != nil {
                guard let update = await look(seen) else { return nil }
                defer { seen = update.seen }
                if update.isRearranged || !update.changed.isEmpty || update.isSettled != seen.isSettled { return update }
            }
            return nil
        }

        public mutating func next() async -> Element? { await next(isolation: nil) }
    }
}

/// The state of a picture in a list, as a view draws it.
public enum CellState<Content: Sendable>: Sendable {
    /// Nothing is fetched for it: it is not near the screen, or its turn has not come.
    case waiting
    case loading(FetchProgress)
    case picture(Content)
    /// The error's description is a sentence for people.
    case failed(FetchError)
}

extension CellState: Equatable where Content: Equatable {}
extension CellState: Hashable where Content: Hashable {}
