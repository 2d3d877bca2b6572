import GannetHTTP
import GannetTestKit

@testable import GannetFetch

/// A fetch that ends when the test says so, or when it is cancelled.
final class HeldWork: Sendable {
    typealias Outcome = Result<Int, FetchError>

    private struct State {
        var starts = 0
        var isCancelled = false
        var outcome: Outcome?
        var priority: ChangingPriority?
    }

    private let state = Monitor(State())

    var starts: Int { state.update { $0.starts } }
    var isCancelled: Bool { state.update { $0.isCancelled } }
    var priority: FetchPriority? { state.update { $0.priority }?.value }

    func fetch(_ work: SharedWork) async -> Outcome {
        state.update { state in
            state.starts += 1
            state.priority = work.priority
        }
        do {
            return try await state.wait { $0.outcome }
        } catch {
            state.update { $0.isCancelled = true }
            return .failure(FetchError(kind: .cancelled, url: ""))
        }
    }

    func finish(_ outcome: Outcome) { state.update { $0.outcome = outcome } }

    func started() async throws { try await state.wait { $0.starts > 0 ? () : nil } }
    func cancelled() async throws { try await state.wait { $0.isCancelled ? () : nil } }
}

extension SharedFetches {
    /// Returns when so many callers wait. A started task may get there at any time.
    func waits(for count: Int) async throws {
        try await eventually("\(count) callers wait") { subscriberCount >= count }
    }
}
