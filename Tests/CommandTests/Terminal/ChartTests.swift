import Testing

@testable import GannetCommand

@Suite struct ChartTests {
    private static let unicode = TerminalStyle(hasColor: false, hasUnicode: true)
    private static let ascii = TerminalStyle(hasColor: false, hasUnicode: false)

    @Test func `the highest value fills its column, the lowest can be seen, and unknown values are blank`() {
        let values: [Double?] = [nil, nil, 0, 0.001, 8, 16]
        #expect(Self.unicode.chart(values, height: 2) == ["     █", "  ▁▁██"])
        #expect(Self.unicode.chart(values, height: 1) == ["  ▁▁▄█"])
        #expect(Self.ascii.chart(values, height: 2) == ["     |", "  ..||"])
    }

    @Test func `a chart of zeros is a line, and a chart of no rows is empty`() {
        #expect(Self.unicode.chart([0, 0], height: 2) == ["  ", "▁▁"])
        #expect(Self.unicode.chart([], height: 2) == ["", ""])
        #expect(Self.unicode.chart([1], height: 0) == [])
    }
}
