import Testing

@testable import Crawl
@testable import GannetQueue

@Suite struct HostTallyTests {
    private let start = ContinuousClock.now

    @Test func `requests are counted by host: requests in flight with their age, and recent requests with their result`() {
        var tally = HostTally<Int>(at: start)
        tally.began(1, host: "slow", at: start)
        tally.began(2, host: "quick", at: start + .seconds(1))
        tally.ended(2, at: start + .seconds(2))
        tally.began(3, host: "quick", at: start + .seconds(2))
        tally.ended(3, isBad: true, at: start + .seconds(2.5))
        tally.began(4, host: "slow", at: start + .seconds(2))
        // A cancelled request says nothing about its host.
        tally.began(5, host: "third", at: start)
        tally.calledOff(5)
        let seen = tally.snapshot(at: start + .seconds(3))
        #expect(seen.interval == .seconds(3))
        #expect(Set(seen.hosts.map(\.name)) == ["slow", "quick"])
        let (slow, quick) = (seen.slowest(2)[0], seen.slowest(2)[1])
        #expect(slow.name == "slow" && slow.running == 2 && slow.longest == .seconds(3) && slow.finished == 0)
        #expect(quick.running == 0 && quick.finished == 2 && quick.failed == 1 && quick.average == .milliseconds(750))
    }

    @Test func `ended requests are counted for one to two windows, however often a snapshot is taken`() {
        var tally = HostTally<Int>(at: start)
        tally.began(1, host: "h", at: start)
        tally.ended(1, at: start + .seconds(1))
        for second in 1..<10 { #expect(tally.snapshot(at: start + .seconds(second)).hosts.map(\.finished) == [1]) }
        #expect(tally.snapshot(at: start + .seconds(10)).hosts.isEmpty)
        #expect(tally.snapshot(at: start + .seconds(10)).interval == .seconds(5))
        tally.began(2, host: "h", at: start + .seconds(50))
        tally.ended(2, at: start + .seconds(51))
        #expect(tally.snapshot(at: start + .seconds(51)).interval == .seconds(5))
        #expect(tally.snapshot(at: start + .seconds(51)).hosts.map(\.finished) == [1])
    }

    @Test func `however many hosts there are, a limited number is remembered`() {
        var tally = HostTally<Int>(at: start)
        for number in 0..<5000 {
            tally.began(number, host: "h\(number)", at: start)
            tally.ended(number, at: start)
        }
        #expect(tally.snapshot(at: start).hosts.count == HostTally<Int>.mostHosts)
    }

    @Test func `the notable hosts are the busiest and the slowest, half each, and no host twice`() {
        var tally = HostTally<Int>(at: start)
        var flight = 0
        func run(_ host: String, _ times: Int, for time: Duration) {
            for _ in 0..<times {
                flight += 1
                tally.began(flight, host: host, at: start)
                tally.ended(flight, at: start + time)
            }
        }
        for number in 0..<6 { run("busy\(number)", 20 - number, for: .milliseconds(10)) }
        run("slow", 1, for: .seconds(4))
        let told = tally.snapshot(at: start + .seconds(4)).notable(4).map(\.name)
        #expect(told == ["busy0", "busy1", "busy2", "slow"])
    }
}
