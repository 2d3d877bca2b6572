import Foundation
import Testing

@testable import GannetCommand

@Suite struct SignalTrapTests {
    @Test("Signals arrive in order instead of ending the process")
    func signals() async throws {
        let trap = try SignalTrap(leavesAtLast: false)
        defer { for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) } }
        var requests = trap.requests.makeAsyncIterator()
        for (number, request) in [(SIGTERM, SignalTrap.Request.terminate), (SIGINT, .interrupt), (SIGTERM, .terminate)] {
            kill(getpid(), number)
            #expect(await requests.next() == request)
        }
    }
}
