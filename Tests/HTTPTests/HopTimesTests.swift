import GannetBase
import Testing

@testable import GannetHTTP

/// Where a transfer's time went, from the reports of its parts.
@Suite struct HopTimesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let times: HopTimes
        let phases: [UInt32]
    }

    private static func times(_ change: (inout HopTimes) -> Void) -> HopTimes {
        var times = HopTimes()
        change(&times)
        return times
    }

    private static func ms(_ number: Int) -> Duration { .milliseconds(number) }

    static let cases = [
        Case(
            testDescription: "a name that is not found",
            times: times { $0.total = ms(70) }, phases: [0, 70, 0, 0, 0, 0]),
        Case(
            testDescription: "a host that takes no connection",
            times: times { ($0.total, $0.lookUp, $0.begun) = (ms(500), ms(20), ms(20)) }, phases: [0, 20, 480, 0, 0, 0]),
        Case(
            testDescription: "a handshake that does not end",
            times: times {
                ($0.total, $0.lookUp, $0.begun, $0.isSecure, $0.connected) = (ms(500), ms(20), ms(20), true, ms(30))
            }, phases: [0, 20, 30, 450, 0, 0]),
        Case(
            testDescription: "a server that does not answer",
            times: times { ($0.total, $0.lookUp, $0.begun, $0.connected, $0.requested) = (ms(500), ms(20), ms(20), ms(30), ms(31)) },
            phases: [0, 20, 30, 0, 449, 0]),
        Case(
            testDescription: "all phases, behind a redirect and a wait for a connection",
            times: times {
                ($0.earlier, $0.total, $0.lookUp, $0.begun, $0.isSecure) = (ms(1000), ms(700), ms(20), ms(50), true)
                ($0.connected, $0.handshaken, $0.requested, $0.answered) = (ms(30), ms(75), ms(75), ms(275))
            }, phases: [1000, 20, 60, 45, 200, 375]),
        Case(
            testDescription: "a connection that was open",
            times: times {
                ($0.total, $0.lookUp, $0.begun, $0.isSecure) = (ms(300), ms(0), ms(0), true)
                ($0.connected, $0.requested, $0.answered) = (.microseconds(20), .microseconds(60), ms(290))
            }, phases: [0, 0, 0, 0, 290, 10]),
    ]

    @Test(arguments: cases) func `each phase has its own time`(item: Case) {
        let phases = item.times.phases
        #expect(PhaseTimes.all.map { phases[keyPath: $0.path] } == item.phases)
    }
}
