import Testing

@testable import Crawl
@testable import GannetCommand
@testable import GannetQueue

@Suite struct MetricsTextTests {
    @Test func `values stand behind their kind and their help, and labels are escaped`() {
        var page = MetricsText()
        page.add("a_total", .counter, "What a is.", 3, [("queue", "x\"y\\z\n")])
        page.add("b", .gauge, "What b is.", 0.25)
        page.add("unknown", .gauge, "Nobody knows.", nil as Int?)
        page.add("none", .gauge, "There are none.", [])
        page.add("on", .gauge, "Whether.", true)
        #expect(
            page.text == """
                # HELP a_total What a is.
                # TYPE a_total counter
                a_total{queue="x\\"y\\\\z\\n"} 3
                # HELP b What b is.
                # TYPE b gauge
                b 0.25
                # HELP on Whether.
                # TYPE on gauge
                on 1

                """)
    }

    @Test func `jobs that a worker could fetch now are told without those that wait for a host`() {
        var counts = QueueCounts()
        counts.ready = 10
        for (held, runnable) in [(4, 6), (12, 0)] {
            var page = MetricsText()
            let waits = QueueWaits(held: held)
            page.add(QueueOverview(now: 0, counts: counts, oldestReady: nil, samples: [], workers: [], waits: waits), of: "q")
            #expect(page.text.contains("gannet_queue_runnable_jobs{queue=\"q\"} \(runnable)\n"))
        }
    }

    @Test func `the steps of a histogram add up, and the last holds all`() {
        var histogram = Histogram([.milliseconds(10), .seconds(1)])
        for time in [5, 10, 11, 5000] { histogram.note(.milliseconds(time)) }
        #expect(histogram.counts == [2, 1, 1])
        var page = MetricsText()
        page.add("t_seconds", "Times.", [(labels: [("outcome", "ok")], histogram: histogram)])
        #expect(
            page.text.split(separator: "\n").dropFirst(2) == [
                "t_seconds_bucket{outcome=\"ok\",le=\"0.01\"} 2", "t_seconds_bucket{outcome=\"ok\",le=\"1\"} 3",
                "t_seconds_bucket{outcome=\"ok\",le=\"+Inf\"} 4", "t_seconds_sum{outcome=\"ok\"} 5.026",
                "t_seconds_count{outcome=\"ok\"} 4",
            ])
    }

    @Test(arguments: [
        ("127.0.0.1:9464", "127.0.0.1", 9464, "http://127.0.0.1:9464"), (":9464", "0.0.0.0", 9464, "http://127.0.0.1:9464"),
        ("[::]:0", "::", 0, "http://[::1]:0"), ("[fe80::1]:65535", "fe80::1", 65535, "http://[fe80::1]:65535"),
        ("localhost:80", "127.0.0.1", 80, "http://127.0.0.1:80"),
    ])
    func `an address to listen on is read`(text: String, host: String, port: UInt16, url: String) throws {
        let address = try ListenOption.address.type.parse(text)
        #expect(address == ListenAddress(host: host, port: port) && address.url == url)
    }

    @Test(arguments: [
        "", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[::1]", "host:80", "[127.0.0.1]:80", "1.2.3.4:+5", "[]:1",
    ])
    func `a text that is not an address to listen on is refused`(text: String) {
        #expect(throws: (any Error).self) { try ListenOption.address.type.parse(text) }
    }
}
