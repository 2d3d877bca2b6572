import Testing

@testable import GannetCommand

@Suite struct LiveAreaTests {
    private static let style = TerminalStyle(hasColor: false, hasUnicode: false)

    @Test func `new lines replace the old ones from the row of the first`() {
        var area = LiveArea()
        #expect(area.draw(["one", "two"], in: 80, Self.style) == "\rone\u{1b}[K\r\ntwo\u{1b}[K\u{1b}[J")
        #expect(area.draw(["three"], in: 80, Self.style) == "\r\u{1b}[1Athree\u{1b}[K\u{1b}[J")
        #expect(area.erase(in: 80) == "\r\u{1b}[J")
        #expect(area.erase(in: 80) == "")
    }

    @Test func `no line reaches the last column`() {
        var area = LiveArea()
        #expect(area.draw(["0123456789"], in: 10, Self.style) == "\r012345...\u{1b}[K\u{1b}[J")
    }

    @Test func `lines that a narrower terminal has broken are taken for as many rows`() {
        var area = LiveArea()
        _ = area.draw(["0123456789012345678901234", "short"], in: 80, Self.style)
        // Three rows of ten columns, and one.
        #expect(area.erase(in: 10) == "\r\u{1b}[3A\u{1b}[J")
    }

    @Test func `a screen is written where it has changed, and whole when its size has`() {
        var frame = ScreenFrame()
        let size = Terminal.Size(columns: 20, rows: 3)
        let first = frame.update(["one", "two"], size, Self.style)
        #expect(first == Terminal.atOnce("\u{1b}[H\u{1b}[2J\u{1b}[1;1Hone\u{1b}[K\u{1b}[2;1Htwo\u{1b}[K"))
        #expect(frame.update(["one", "two"], size, Self.style) == "")
        #expect(frame.update(["one"], size, Self.style) == Terminal.atOnce("\u{1b}[2;1H\u{1b}[K"))
        let wider = Terminal.Size(columns: 30, rows: 1)
        #expect(frame.update(["one", "beyond"], wider, Self.style) == Terminal.atOnce("\u{1b}[H\u{1b}[2J\u{1b}[1;1Hone\u{1b}[K"))
        frame.forget()
        #expect(frame.update(["one"], wider, Self.style).contains("one"))
    }
}
