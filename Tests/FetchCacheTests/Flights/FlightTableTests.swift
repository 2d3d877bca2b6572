import Testing

@testable import FetchCache

struct FlightTableTests {
    private var table = FlightTable<String>()

    @Test mutating func `the first who asks takes off, others join`() {
        let (_, first, joining) = table.join("a", .normal)
        #expect(joining == .takesOff)
        let (_, second, again) = table.join("a", .normal)
        #expect(again == .joins(raisedTo: nil))
        #expect(first == second)
        #expect(table.join("b", .normal).2 == .takesOff)
        #expect(table.count == 2)
    }

    @Test mutating func `a flight has its highest subscriber's priority`() {
        let (low, _, _) = table.join("a", .low)
        let (high, _, raised) = table.join("a", .high)
        #expect(raised == .joins(raisedTo: .high))
        let (other, _, _) = table.join("a", .high)
        #expect(table.leave(high).1 == .goesOn(loweredTo: nil))
        #expect(table.leave(other).1 == .goesOn(loweredTo: .low))
        #expect(table.leave(low).1 == .callsOff)
    }

    @Test mutating func `the last one out calls the flight off, and the next who asks takes off anew`() {
        let (one, flight, _) = table.join("a", .normal)
        let (two, _, _) = table.join("a", .normal)
        #expect(table.leave(one).1 == .goesOn(loweredTo: nil))
        #expect(table.leave(two).1 == .callsOff)
        #expect(table.leave(two).1 == .nothing)
        let (_, next, joining) = table.join("a", .normal)
        #expect(joining == .takesOff)
        #expect(next != flight)
        #expect(table.land(flight).isEmpty)
        #expect(table.flight(for: "a") == next)
    }

    @Test mutating func `a landed flight tells whom it was for and is forgotten`() {
        let (one, flight, _) = table.join("a", .normal)
        let (two, _, _) = table.join("a", .normal)
        let (gone, _, _) = table.join("a", .normal)
        _ = table.leave(gone)
        #expect(Set(table.land(flight)) == [one, two])
        #expect(table.land(flight).isEmpty)
        #expect(table.count == 0)
        #expect(table.leave(one).1 == .nothing)
    }
}
