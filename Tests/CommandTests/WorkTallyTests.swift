import Gannet
import Testing

@testable import GannetCommand

@Suite struct WorkTallyTests {
    @Test func `progress is told out of the whole, with what was done before`() {
        let console = Console(.quiet)
        let watch = RedisWatch(console, own: nil)
        let whole = WorkTally.Whole(total: 5000, done: 1200, failed: 3)
        for (tally, text) in [
            (WorkTally(console, watch, of: whole), "1201 of 5000 fetched, 3 failed, 10 B in "),
            (WorkTally(console, watch), "1 fetched, 0 failed, 10 B in "),
        ] {
            tally.note(.fetched(url: "http://h/", bytes: 10, file: "f"))
            #expect(tally.progress.hasPrefix(text))
        }
    }
}
