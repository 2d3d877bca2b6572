import Testing

@testable import Server

@Suite struct ClientTableTests {
    private let start = ContinuousClock.now
    private let bounds = Self.bounds()

    private static func bounds(each: Int? = nil) -> HTTPServiceOptions {
        var bounds = HTTPServiceOptions()
        (bounds.connections, bounds.each, bounds.withoutRequest) = (8, each, .seconds(10))
        return bounds
    }

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

    @Test func `while the service ends, the end of a request closes its own connection, and looks at no other`() {
        var table = full()
        table.began(1)
        var looks: [Int32] = []
        func isNeedless(at seconds: Int) -> Bool {
            table.isNeedless(1, bounds, at: after(seconds)) {
                looks.append($0)
                return false
            }
        }
        table.ended(1, at: after(20))
        #expect(!isNeedless(at: 20), "the service goes on")
        table.isEnding = true
        #expect(isNeedless(at: 20) && !isNeedless(at: 21))
        #expect(looks == [1])
    }

    private func full() -> ClientTable {
        var table = ClientTable()
        for descriptor in Int32(1)...8 {
            #expect(table.makeRoom(bounds, at: after(0), hasSent: { _ in false }) == .there)
            table.opened(descriptor, at: after(Int(descriptor)))
        }
        return table
    }

    @Test func `when all connections are taken, the longest idle one makes room`() {
        var table = full()
        table.began(1)
        #expect(table.makeRoom(bounds, at: after(20), hasSent: { _ in false }) == .byClosing(2))
        table.opened(9, at: after(20))
        #expect(table.makeRoom(bounds, at: after(20), hasSent: { _ in false }) == .byClosing(3))
        // A connection that is being closed counts no more, and has no request any more.
        table.closed(2)
        table.ended(3, at: after(21))
        table.closed(3)
        #expect(table.count == 7)
        #expect(table.makeRoom(bounds, at: after(22), hasSent: { _ in false }) == .there)
    }

    @Test func `a connection with a request, with bytes that wait to be read, or without time for its first request makes no room`() {
        var table = full()
        table.began(1)
        #expect(table.makeRoom(bounds, at: after(8), hasSent: { $0 < 8 }) == .none)
        #expect(table.makeRoom(bounds, at: after(9), hasSent: { $0 < 8 }) == .byClosing(8))
        table.ended(1, at: after(9))
        table.opened(9, at: after(9))
        // A connection that had a request may make room at once.
        #expect(table.makeRoom(bounds, at: after(9), hasSent: { 1 < $0 && $0 < 8 }) == .byClosing(1))
    }

    @Test func `when the service ends, each idle connection is named once, and one with a request after it`() {
        var table = ClientTable()
        for descriptor: Int32 in 1...4 { table.opened(descriptor, at: start) }
        table.began(1)
        table.began(2)
        table.ended(2, at: start)
        #expect(table.needless(bounds, at: start, hasSent: { _ in false }) == [])
        table.isEnding = true
        // The third has time for its first request, and the bytes of the fourth may be one.
        #expect(table.needless(bounds, at: start, hasSent: { $0 == 4 }) == [2])
        let later = start + bounds.fresh
        #expect(table.needless(bounds, at: later, hasSent: { $0 == 4 }) == [3])
        table.ended(1, at: later)
        #expect(table.needless(bounds, at: later, hasSent: { _ in false }).sorted() == [1, 4])
        #expect(!table.isEmpty)
        for descriptor: Int32 in 1...4 { table.closed(descriptor) }
        #expect(table.isEmpty)
    }

    @Test func `an address that has its share gets room from its own idle connections alone`() {
        var table = ClientTable()
        let bounds = Self.bounds(each: 2)
        func room(_ address: String, _ bounds: HTTPServiceOptions) -> ClientTable.Room {
            table.makeRoom(for: address, bounds, at: after(9), hasSent: { _ in false })
        }
        table.opened(1, of: "b", at: start)
        for descriptor in Int32(2)...3 {
            #expect(room("a", bounds) == .there)
            table.opened(descriptor, of: "a", at: start)
            table.began(descriptor)
        }
        // The other address' connection is idle, and there is room for it.
        #expect(room("a", bounds) == .none && room("b", bounds) == .there)
        #expect(room("a", Self.bounds()) == .there)
        table.ended(3, at: after(1))
        table.ended(2, at: after(2))
        #expect(room("a", bounds) == .byClosing(3))
        table.opened(4, of: "a", at: after(9))
        #expect(room("a", bounds) == .byClosing(2))
        // Connections that are being closed count no more, and are not counted off twice.
        for descriptor in Int32(2)...3 { table.closed(descriptor) }
        #expect(room("a", bounds) == .there)
        table.opened(5, of: "a", at: after(9))
        #expect(room("a", bounds) == .none)
    }
}
