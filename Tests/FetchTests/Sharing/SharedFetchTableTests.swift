import Testing

@testable import GannetFetch

struct SharedFetchTableTests {
    private var table = SharedFetchTable<String>()

    @Test mutating func `the first caller starts a fetch, and others join it`() {
        let (_, first, joining) = table.join("a", .normal)
        #expect(joining == .starts)
        let (_, second, again) = table.join("a", .normal)
        #expect(again == .joins(raisedTo: nil))
        #expect(first == second)
        #expect(table.join("b", .normal).2 == .starts)
        #expect(table.count == 2)
    }

    @Test mutating func `a fetch has the highest priority of its subscribers`() {
        let (low, _, _) = table.join("a", .low)
        let (high, _, raised) = table.join("a", .high)
        #expect(raised == .joins(raisedTo: .high))
        let (other, _, _) = table.join("a", .high)
        #expect(table.leave(high).1 == .goesOn(loweredTo: nil))
        #expect(table.leave(other).1 == .goesOn(loweredTo: .low))
        #expect(table.leave(low).1 == .deserts)
    }

    @Test mutating func `the last subscriber to leave deserts the fetch, which another may join until it ends`() {
        let (one, fetch, _) = table.join("a", .normal)
        let (two, _, _) = table.join("a", .normal)
        #expect(table.leave(one).1 == .goesOn(loweredTo: nil))
        #expect(table.leave(two).1 == .deserts)
        #expect(table.isDeserted(fetch))
        #expect(table.leave(two).1 == .nothing)
        let (late, joined, _) = table.join("a", .normal)
        #expect(joined == fetch && !table.isDeserted(fetch))
        #expect(table.leave(late).1 == .deserts)
        #expect(table.end(fetch).isEmpty && !table.isDeserted(fetch))
        let (_, next, joining) = table.join("a", .normal)
        #expect(joining == .starts)
        #expect(next != fetch)
        #expect(table.join("a", .normal).1 == next)
    }

    @Test mutating func `a fetch that ends returns its subscribers and is forgotten`() {
        let (one, fetch, _) = table.join("a", .normal)
        let (two, _, _) = table.join("a", .normal)
        let (gone, _, _) = table.join("a", .normal)
        _ = table.leave(gone)
        #expect(Set(table.end(fetch)) == [one, two])
        #expect(table.end(fetch).isEmpty)
        #expect(table.count == 0)
        #expect(table.leave(one).1 == .nothing)
    }
}
