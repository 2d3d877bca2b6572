import GannetHTTP
import Testing

@testable import Crawl
@testable import GannetCommand

@Suite struct NetworkWatchTests {
    @Test func `a missing part of the network is reported at once, and then once a minute`() {
        let watch = NetworkWatch(Console(.quiet))
        let start = ContinuousClock.now
        let proxy = FetchError(kind: .proxy, url: "u", detail: "Connection refused")
        let servers = FetchError(kind: .dns(.nobodyAnswers), url: "u", detail: "no name server answers at all")
        let line = "waiting for the proxy (Connection refused): URLs are put off, which uses up no retry"
        #expect(watch.line(about: proxy, at: start) == line)
        #expect(watch.line(about: FetchError(kind: .proxy, url: "u", detail: "another"), at: start + .seconds(59)) == nil)
        #expect(
            watch.line(about: servers, at: start + .seconds(59))
                == "waiting for a name server (no name server answers at all): URLs are put off, which uses up no retry")
        #expect(watch.line(about: proxy, at: start + .seconds(60)) == line)
        #expect(watch.line(about: proxy, at: start + .seconds(61)) == nil)
        #expect(watch.line(about: FetchError(kind: .status(429), url: "u"), at: start) == nil, "the network is there")
    }

    @Test func `a proxy is doubted once, after three failures, and not when a host has answered before`() {
        func watch(_ proxy: String? = "http://u:secret@p:1") -> NetworkWatch { NetworkWatch(Console(.quiet), proxy: proxy) }
        func doubts(_ watch: NetworkWatch, _ classes: String...) -> [String] { classes.compactMap { watch.doubt(after: "It failed.", $0) } }
        #expect(
            doubts(watch(), "http-502", "connect", "timeout", "http-502", "http-502", "http-502") == [
                "none of the first 3 requests through the proxy http://p:1 has succeeded. The last one: It failed. "
                    + "Perhaps the proxy has answered so, or not at all; '--proxy' names another."
            ])
        #expect(doubts(watch(), "http-502", "http-404", "http-502", "http-502", "http-502").isEmpty)
        #expect(doubts(watch(), "proxy", "proxy", "proxy", "proxy").isEmpty, "the wait for it is told")
        #expect(doubts(watch(nil), "http-502", "http-502", "http-502").isEmpty)
        let served = watch()
        served.note(.fetched(JobLabel(url: "u"), bytes: 1, file: nil))
        #expect(doubts(served, "http-502", "http-502", "http-502").isEmpty)
    }
}
