import Testing

@testable import HTTPService

@Suite struct ClientTableTests {
    private let start = ContinuousClock.now
    private let bounds = ClientBounds(connections: 8, withoutRequest: .seconds(10))

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test func `a connection without a request is named once when its time is over`() {
        var table = ClientTable()
        table.opened(4, at: start)
        #expect(table.overdue(bounds, at: after(9)) == [])
        #expect(table.overdue(bounds, at: after(10)) == [4])
        #expect(table.overdue(bounds, at: after(20)) == [])
    }

    @Test func `a request stops the time, and its end begins it anew`() {
        var table = ClientTable()
        table.opened(4, at: start)
        table.began(4)
        #expect(table.overdue(bounds, at: after(100)) == [])
        table.ended(4, at: after(100))
        #expect(table.overdue(bounds, at: after(109)) == [])
        #expect(table.overdue(bounds, at: after(110)) == [4])
    }

    @Test func `a closed connection is not named, nor is another one of its number too early`() {
        var table = ClientTable()
        table.opened(4, at: start)
        table.closed(4)
        table.opened(4, at: after(5))
        #expect(table.overdue(bounds, at: after(10)) == [])
        #expect(table.overdue(bounds, at: after(15)) == [4])
    }

    @Test func `when seven eighths are open, the longest idle connection makes room`() {
        var table = ClientTable()
        for descriptor in Int32(1)...7 {
            table.opened(descriptor, at: after(Int(descriptor)))
            #expect(table.tooMany(bounds) == [])
        }
        table.began(1)
        table.opened(8, at: after(8))
        #expect(table.tooMany(bounds) == [2])
    }

    @Test func `when all are busy, none makes room`() {
        var table = ClientTable()
        for descriptor in Int32(1)...8 {
            table.opened(descriptor, at: start)
            table.began(descriptor)
        }
        #expect(table.tooMany(bounds) == [])
    }

    @Test func `an address has room until its share is open, and again when one is closed`() {
        var table = ClientTable()
        let bounds = ClientBounds(connections: 8, each: 2)
        for descriptor in Int32(1)...2 {
            #expect(table.hasRoom(for: "a", bounds))
            table.opened(descriptor, of: "a", at: start)
        }
        #expect(!table.hasRoom(for: "a", bounds))
        #expect(table.hasRoom(for: "b", bounds))
        #expect(table.hasRoom(for: "a", ClientBounds(connections: 8)))
        table.closed(1, of: "a")
        #expect(table.hasRoom(for: "a", bounds))
    }
}
