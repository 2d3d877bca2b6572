import GannetHTTP
import Testing

@testable import Crawl
@testable import GannetCommand

@Suite struct NetworkWatchTests {
    @Test func `a missing part of the network is reported at once, and then once a minute`() {
        var watch = NetworkWatch()
        let start = ContinuousClock.now
        let proxy = FetchError(kind: .proxy, url: "u", detail: "Connection refused")
        let servers = FetchError(kind: .dns(.nobodyAnswers), url: "u", detail: "no name server answers at all")
        let line = "waiting for the proxy (Connection refused): URLs are put off, which uses up no retry"
        func told(_ error: FetchError, after seconds: Int) -> String? { watch.line(about: error, at: start + .seconds(seconds)) }
        #expect(told(proxy, after: 0) == line)
        #expect(told(FetchError(kind: .proxy, url: "u", detail: "another"), after: 59) == nil)
        #expect(
            told(servers, after: 59)
                == "waiting for a name server (no name server answers at all): URLs are put off, which uses up no retry")
        #expect(told(proxy, after: 60) == line)
        #expect(told(proxy, after: 61) == nil)
        #expect(told(FetchError(kind: .status(429), url: "u"), after: 0) == nil, "the network is there")
    }

    @Test func `a proxy is doubted once, after three failures, and not when a host has answered before`() {
        func watch(_ proxy: String? = "http://u:secret@p:1") -> NetworkWatch { NetworkWatch(proxy: proxy) }
        func doubts(_ watch: NetworkWatch, _ classes: String...) -> [String] {
            var watch = watch
            return classes.compactMap { watch.doubt(after: "It failed.", $0) }
        }
        #expect(
            doubts(watch(), "http-502", "connect", "timeout", "http-502", "http-502", "http-502") == [
                "none of the first 3 requests through the proxy http://p:1 has succeeded. The last one: It failed. "
                    + "Perhaps the proxy has answered so, or not at all; '--proxy' names another."
            ])
        #expect(doubts(watch(), "http-502", "http-404", "http-502", "http-502", "http-502").isEmpty)
        #expect(doubts(watch(), "proxy", "proxy", "proxy", "proxy").isEmpty, "the wait for it is told")
        #expect(doubts(watch(nil), "http-502", "http-502", "http-502").isEmpty)
        var served = watch()
        #expect(served.note(.fetched(JobLabel(url: "u"), bytes: 1, file: nil), at: .now) == nil)
        #expect(doubts(served, "http-502", "http-502", "http-502").isEmpty)
    }
}
