import Foundation
import GannetTestKit

@testable import GannetFetch

enum Samples {
    /// One pixel.
    static let png = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!

    static func url(_ number: Int, _ host: String = "a") -> URL { URL(string: "http://\(host)/\(number)")! }

    /// Pictures with the names `0`, `1` and so on.
    static func pictures(_ count: Int) -> [Picture] { (0..<count).map { Picture(url($0), id: "\($0)") } }

    static func ids(_ range: Range<Int>) -> [Picture.ID] { range.map { "\($0)" } }
}

/// A clock that a test moves.
struct TestClock: Sendable {
    private let time = Monitor(ContinuousClock.now)

    func advance(by duration: Duration) { time.update { $0 += duration } }

    var clock: ListClock {
        ListClock(
            now: { time.update { $0 } },
            sleep: { instant in (try? await time.wait { $0 >= instant ? () : nil }) != nil })
    }
}

extension PictureList {
    /// Returns when the latest call of `show(_:)` was acted upon.
    func acted(line: Int = #line) async throws {
        try await eventually("the list acts upon the latest call", line: line) { !isLookComing }
    }

    /// Returns when nothing is under way.
    nonisolated func settled() async throws -> PictureListUpdate<Content> {
        try await bounded("the list settles") { [updates] in
            for await update in updates where update.isSettled { return update }
            throw KitError("the list is gone")
        }
    }
}

extension CellState {
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .loading: "loading"
        case .picture: "picture"
        case .failed: "failed"
        }
    }
}
