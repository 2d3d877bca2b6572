import Testing

@testable import GannetFetch

struct ScrollingTests {
    private var scrolling = Scrolling()

    @Test mutating func `cells ahead are those in the direction of scrolling`() {
        #expect(
            scrolling.move(to: 10..<13, of: 100, ahead: 2, behind: 1) == NearCells(screen: [10, 11, 12], ahead: [13, 14], behind: [9]))
        #expect(scrolling.move(to: 9..<12, of: 100, ahead: 2, behind: 1) == NearCells(screen: [9, 10, 11], ahead: [8, 7], behind: [12]))
        // Resting is no change of direction.
        #expect(scrolling.move(to: 9..<12, of: 100, ahead: 2, behind: 1).ahead == [8, 7])
        // A screen that shows more at both ends is none either.
        #expect(scrolling.move(to: 8..<13, of: 100, ahead: 2, behind: 1).ahead == [7, 6])
        #expect(scrolling.move(to: 8..<14, of: 100, ahead: 2, behind: 1).ahead == [14, 15])
    }

    @Test mutating func `at the ends of the list there are fewer`() {
        #expect(scrolling.move(to: 0..<2, of: 3, ahead: 5, behind: 5) == NearCells(screen: [0, 1], ahead: [2], behind: []))
        #expect(scrolling.move(to: 1..<3, of: 3, ahead: 5, behind: 5) == NearCells(screen: [1, 2], ahead: [], behind: [0]))
        #expect(scrolling.move(to: [7, -1, 2], of: 3, ahead: .max, behind: .max) == NearCells(screen: [2], ahead: [], behind: [1, 0]))
        #expect(scrolling.move(to: [], of: 3, ahead: 5, behind: 5) == NearCells())
        #expect(scrolling.move(to: [0], of: 3, ahead: -1, behind: -1) == NearCells(screen: [0], ahead: [], behind: []))
    }

    @Test mutating func `another arrangement is no scrolling`() {
        _ = scrolling.move(to: 50..<52, of: 100, ahead: 1, behind: 0)
        _ = scrolling.move(to: 40..<42, of: 100, ahead: 1, behind: 0)
        #expect(scrolling.rearrange(to: [90, 95], of: 100, ahead: 1, behind: 0).ahead == [89])
        #expect(scrolling.move(to: 90..<96, of: 100, ahead: 1, behind: 0).ahead == [89])
    }
}
