import GannetBase
import GannetHTTP
import GannetTestKit
import Testing

@testable import Server

/// Requests by the real engine.
protocol EngineUser {}

extension EngineUser {
    func engine() throws -> CurlDownloader {
        var options = FetchSettings()
        options.allowedNetworks = ["all"]
        options.maximumInFlight = 300
        return try CurlDownloader(options)
    }

    func get(_ url: String, by engine: CurlDownloader) async throws -> String {
        let request = DownloadRequest(url: url, body: .memory(upTo: 100_000_000, thenFileIn: "/"))
        guard case .bytes(let bytes) = try await engine.download(request).body else { throw KitError("not in memory") }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPService {
    /// A service that reads bodies to their ends.
    static func reader(_ options: HTTPServiceOptions, failed: Count) throws -> HTTPService {
        try HTTPService(address: "127.0.0.1", port: 0, options) { request in
            .later {
                do {
                    while try await request.body.next() != nil {}
                } catch {
                    failed.add(1)
                }
                return HTTPServiceAnswer("whole")
            }
        }
    }
}

extension HTTPServiceOptions {
    static var roomy: Self {
        var options = Self()
        options.connections = 400
        return options
    }
}

/// Holds tasks until it is opened, and counts them.
final class Gate: Sendable {
    private struct State {
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
        var cancelled = 0
        var isOpen = false
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.waiters.count } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func wait() async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGo = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if mayGo { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled += 1
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Counts from any thread.
final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add(_ number: Int) { count.withLock { $0 += number } }
}
