import GannetBase
import Server

/// A small site on this machine for the demonstration: pages that take their time, some that fail at first, some that moved, some that are not there.
/// It keeps account of what it was asked for.
final class DemoSite: Sendable {
    static let pages = 600
    private static let failing = 50
    private static let moved = 40
    private static let missing = 200

    /// How often each page was asked for.
    private let counts = Mutex<[Int: Int]>([:])

    func serve() throws(CommandFailure) -> HTTPService {
        let longest = Times.current.demoPage
        do throws(HTTPServiceFailure) {
            return try HTTPService(address: "127.0.0.1", port: 0) { self.reply(to: $0, longest) }
        } catch {
            throw CommandFailure(.unavailable, error.description)
        }
    }

    /// On two hosts, as far as a worker can tell.
    static func urls(port: UInt16) -> [String] {
        (0..<pages).map { "http://\($0 % 2 == 0 ? "127.0.0.1" : "localhost"):\(port)/pages/\($0).html" }
    }

    /// Pages that are not there however often one asks.
    static let missingPages = (0..<pages).count { $0 % missing == missing - 1 }

    /// Pages that answer only when they are asked a second time.
    static let failingPages = (0..<pages).count(where: failsAtFirst)

    struct Account: Sendable, Equatable {
        var requests = 0
        /// Pages that were asked for more often than it takes to get them.
        var askedAgain = 0
    }

    var account: Account {
        counts.withLock { counts in
            counts.reduce(into: Account()) { account, entry in
                account.requests += entry.value
                if entry.value > (Self.failsAtFirst(entry.key) ? 2 : 1) { account.askedAgain += 1 }
            }
        }
    }

    private static func failsAtFirst(_ page: Int) -> Bool { page % failing == failing / 2 }

    private func reply(to request: HTTPServiceRequest, _ longest: Duration) -> HTTPServiceReply {
        let name = request.path.split(separator: "/").last ?? ""
        guard let page = Int(name.prefix { $0.isNumber }), (0..<Self.pages).contains(page) else {
            return .now(HTTPServiceAnswer(status: 404))
        }
        if request.path.hasPrefix("/moved/") { return .now(HTTPServiceAnswer(Self.text(page), type: "text/html")) }
        let times = counts.withLock { counts in
            counts[page, default: 0] += 1
            return counts[page] ?? 1
        }
        return .later {
            // As pages far away do; another for each, the same in each demonstration.
            try? await Task.sleep(for: longest * (Double(150 + page * 7919 % 400) / 550))
            return Self.answer(page, times)
        }
    }

    private static func answer(_ page: Int, _ times: Int) -> HTTPServiceAnswer {
        if page % missing == missing - 1 { return HTTPServiceAnswer(status: 404) }
        if failsAtFirst(page), times == 1 { return HTTPServiceAnswer(status: 500) }
        if page % moved == moved / 2 { return HTTPServiceAnswer(status: 302, headers: [(name: "Location", value: "/moved/\(page).html")]) }
        return HTTPServiceAnswer(text(page), type: "text/html")
    }

    private static func text(_ page: Int) -> String { "<!doctype html><title>Page \(page)</title><p>This is page \(page).\n" }
}
