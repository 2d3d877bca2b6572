import GannetHTTP
import Testing

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
}
