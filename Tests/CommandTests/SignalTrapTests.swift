import Foundation
import Testing

@testable import GannetCommand

@Suite struct SignalTrapTests {
    @Test("Signals arrive in order instead of ending the process")
    func signals() async throws {
        var requests = try SignalTrap.requests(leavesAtLast: false).makeAsyncIterator()
        defer { for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) } }
        for (number, request) in [(SIGTERM, ExitStatus.terminated), (SIGINT, .interrupted), (SIGTERM, .terminated)] {
            kill(getpid(), number)
            #expect(await requests.next() == request)
        }
    }
}
