import Foundation
import GannetFetch
import GannetTestKit
import Synchronization

/// Answers of a fetcher as a test says, with an account of the requests.
final class ScriptedAnswers: Sendable {
    enum Answer: Sendable {
        case picture
        case text
        case failure(FetchError.Kind)
        /// A picture, once the test opens the gate.
        case held
    }

    private struct State: Sendable {
        var asked: [String] = []
        var cancelled: [String] = []
        var isOpen = false
    }

    private let state = Monitor(State())
    private let answer: @Sendable (String, Int) -> Answer

    /// - Parameter answer: The answer to a path such as `/7`, which was asked for so often before.
    init(_ answer: @escaping @Sendable (String, Int) -> Answer = { _, _ in .picture }) { self.answer = answer }

    /// The paths, in the order of their requests.
    var asked: [String] { state.update { $0.asked } }
    var cancelled: [String] { state.update { $0.cancelled } }

    func open() { state.update { $0.isOpen = true } }

    func waitForRequests(_ count: Int) async throws {
        try await bounded("\(count) requests") { [state] in try await state.wait { $0.asked.count >= count ? () : nil } }
    }

    func waitForCancellations(_ count: Int) async throws {
        try await bounded("\(count) cancelled requests") { [state] in try await state.wait { $0.cancelled.count >= count ? () : nil } }
    }

    func fetcher(_ options: FetcherOptions = FetcherOptions()) throws -> Fetcher {
        try Fetcher(options) { [self] request in
            let path = request.url.path
            let before = state.update { state in
                defer { state.asked.append(path) }
                return state.asked.count { $0 == path }
            }
            switch answer(path, before) {
            case .picture: return FetchResponse(Samples.png, from: request.url, headers: ["Cache-Control": "max-age=600"])
            case .text: return FetchResponse(Data("no picture".utf8), from: request.url)
            case .failure(let kind): throw FetchError(kind, url: request.url)
            case .held:
                do {
                    try await state.wait { $0.isOpen ? () : nil }
                } catch {
                    state.update { $0.cancelled.append(path) }
                    throw error
                }
                return FetchResponse(Samples.png, from: request.url, headers: ["Cache-Control": "max-age=600"])
            }
        }
    }
}
