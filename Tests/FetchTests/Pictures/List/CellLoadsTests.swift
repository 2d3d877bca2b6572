import Testing

@testable import GannetFetch

struct CellLoadsTests {
    private let start = ContinuousClock.now
    private var loads = CellLoads<Int>(dwell: .milliseconds(30), most: 4)

    private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test mutating func `cells on the screen are fetched first, then those ahead`() {
        let actions = loads.show(screen: [3, 4], ahead: [5], behind: [2], at: start)
        #expect(
            actions == [
                .start(3, number: 1, .high, refresh: false), .start(4, number: 2, .high, refresh: false),
                .start(5, number: 3, .low, refresh: false),
            ])
        #expect(loads.count == 3 && !loads.isSettled)
    }

    @Test mutating func `a cell that comes onto the screen is made urgent, and a cell that leaves is cancelled`() {
        _ = loads.show(screen: [3, 4], ahead: [5], behind: [], at: start)
        let actions = loads.show(screen: [4, 5], ahead: [], behind: [3], at: after(40))
        #expect(Set(actions) == [.prioritise(5, .high), .cancel(3), .forget(3)])
        let back = loads.show(screen: [4], ahead: [5], behind: [], at: after(80))
        #expect(back == [.prioritise(5, .low)])
    }

    @Test mutating func `a picture behind the screen stays, and further away it goes`() {
        _ = loads.show(screen: [1, 2], ahead: [], behind: [], at: start)
        #expect(loads.end(1, number: 1, isPicture: true, at: after(1)) == [])
        #expect(loads.end(2, number: 2, isPicture: false, at: after(1)) == [])
        #expect(loads.isSettled)
        #expect(loads.show(screen: [2, 3], ahead: [], behind: [1], at: after(50)).count == 1)
        #expect(loads.count == 3)
        let back = loads.show(screen: [1, 2, 3], ahead: [], behind: [], at: after(100))
        #expect(back == [], "nothing is fetched again")
        #expect(Set(loads.show(screen: [], ahead: [], behind: [], at: after(150))) == [.forget(1), .forget(2), .cancel(3), .forget(3)])
        #expect(loads.count == 0 && loads.isSettled)
    }

    @Test mutating func `while the list scrolls, a cell is fetched only after it was near the screen for a while`() {
        #expect(loads.show(screen: [1], ahead: [], behind: [], at: start).count == 1)
        #expect(loads.show(screen: [1, 2], ahead: [], behind: [], at: after(10)) == [.wake(at: after(40))])
        // The cell that passed by costs nothing.
        #expect(Set(loads.show(screen: [3], ahead: [], behind: [], at: after(20))) == [.cancel(1), .forget(1), .wake(at: after(50))])
        #expect(loads.wake(at: after(40)) == [.wake(at: after(50))])
        #expect(loads.wake(at: after(50)) == [.start(3, number: 2, .high, refresh: false)])
        // After a rest there is no delay for the next cells, and one after a jump.
        #expect(loads.show(screen: [3, 4], ahead: [], behind: [], at: after(51)) == [.start(4, number: 3, .high, refresh: false)])
        #expect(Set(loads.show(screen: [9], ahead: [], behind: [3, 4], at: after(100))).contains(.wake(at: after(130))))
    }

    @Test mutating func `a cell that stays while the list scrolls on is fetched in its time`() {
        _ = loads.show(screen: [0], ahead: [], behind: [], at: start)
        var started: [Int] = []
        for step in 1...20 {
            // Ten steps pass while a cell is on the screen.
            let actions = loads.show(screen: Array(step..<step + 10), ahead: [], behind: [], at: after(step * 10))
            for case .start(let id, _, _, _) in actions { started.append(id) }
        }
        #expect(started.count >= 4 && Set(started).count == started.count)
    }

    @Test mutating func `the end of a fetch that was cancelled changes nothing`() {
        _ = loads.show(screen: [1], ahead: [], behind: [], at: start)
        _ = loads.show(screen: [], ahead: [], behind: [], at: after(40))
        #expect(loads.end(1, number: 1, isPicture: true, at: after(41)) == nil)
        #expect(loads.show(screen: [1], ahead: [], behind: [], at: after(80)) == [.start(1, number: 2, .high, refresh: false)])
        #expect(loads.end(1, number: 1, isPicture: true, at: after(81)) == nil)
        #expect(!loads.isSettled)
    }

    @Test mutating func `a view that shows its whole list has so many fetches at once and no more`() {
        var actions = loads.show(screen: Array(0..<1000), ahead: [], behind: [], at: start)
        var order: [Int] = []
        while !actions.isEmpty {
            #expect(order.isEmpty ? actions.count == 4 : actions.count == 1)
            var next: [CellLoads<Int>.Action] = []
            for case .start(let id, let number, _, _) in actions {
                order.append(id)
                next += loads.end(id, number: number, isPicture: true, at: start) ?? []
                if order.count < 4 { break }
            }
            // The first four begin together; each end begins one.
            actions = next
        }
        #expect(order.count > 900)
    }

    @Test mutating func `only a failed cell is fetched once more, past all caches`() {
        _ = loads.show(screen: [1, 2], ahead: [], behind: [], at: start)
        _ = loads.end(1, number: 1, isPicture: false, at: start)
        #expect(loads.retry(2, at: start) == [])
        #expect(loads.retry(9, at: start) == [])
        #expect(loads.retry(1, at: start) == [.forget(1), .start(1, number: 3, .high, refresh: true)])
        _ = loads.end(1, number: 3, isPicture: false, at: start)
        _ = loads.show(screen: [2], ahead: [], behind: [1], at: after(50))
        #expect(loads.retry(1, at: after(50)) == [.forget(1)], "behind the screen nothing is fetched")
    }

    @Test mutating func `a picture that becomes another one is cancelled or forgotten`() {
        _ = loads.show(screen: [1, 2], ahead: [], behind: [], at: start)
        _ = loads.end(1, number: 1, isPicture: true, at: start)
        #expect(loads.drop(1) == [.forget(1)])
        #expect(loads.drop(2) == [.cancel(2), .forget(2)])
        #expect(loads.drop(3) == [])
        #expect(loads.count == 0)
    }
}
