import Testing

@testable import GannetHTTP

struct ResolverWindowTests {
    private let start = ContinuousClock.now

    @Test func `an old look-up leaves its place to the next`() {
        var window = ResolverWindow(maximum: 3, maximumFresh: 2, freshness: .seconds(1))
        window.start(1, at: start)
        window.start(2, at: start + .milliseconds(500))
        #expect(window.hasRoom(at: start + .milliseconds(900)) == false)
        #expect(window.nextRoom == start + .seconds(1))
        #expect(window.hasRoom(at: start + .seconds(1)) == true)
        window.start(3, at: start + .seconds(1))
        // All places are taken, however old.
        #expect(window.hasRoom(at: start + .seconds(9)) == false)
        #expect(window.nextRoom == nil)
        window.end(1)
        #expect(window.hasRoom(at: start + .seconds(9)) == true)
    }

    @Test func `a look-up that ends makes room at once`() {
        var window = ResolverWindow(maximum: 3, maximumFresh: 1, freshness: .seconds(1))
        for serial in 1...1000 as ClosedRange<UInt64> {
            #expect(window.hasRoom(at: start) == true)
            window.start(serial, at: start)
            #expect(window.hasRoom(at: start) == false)
            window.end(serial)
        }
        #expect(window.count == 0)
        #expect(window.nextRoom == nil)
    }
}
