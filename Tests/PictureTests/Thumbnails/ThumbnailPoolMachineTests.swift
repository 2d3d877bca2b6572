import Testing

@testable import Results

/// Which program works on which picture, without any program.
@Suite struct ThumbnailPoolMachineTests {
    private static let start = ContinuousClock.now

    private func machine(_ change: (inout ThumbnailBounds) -> Void = { _ in }) -> ThumbnailPoolMachine<String> {
        var bounds = ThumbnailBounds()
        bounds.programs = 2
        bounds.pictures = 3
        bounds.idle = .seconds(60)
        bounds.waiting = 100
        change(&bounds)
        return ThumbnailPoolMachine(bounds)
    }

    private func word(_ turn: ThumbnailPoolMachine<String>.Turn) -> String {
        switch turn {
        case .use(let child, let pictures): "\(child) after \(pictures)"
        case .start: "start"
        case .wait: "wait"
        case .refuse: "refuse"
        }
    }

    private func expect(_ turn: ThumbnailPoolMachine<String>.Turn, _ expected: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(word(turn) == expected, sourceLocation: location)
    }

    @Test func `programs start up to their number, and further pictures wait within their bytes`() {
        var machine = machine()
        var turns: [String] = []
        for (number, bytes) in [40, 40, 60, 40, 41].enumerated() {
            turns.append(word(machine.want(PictureTicket(number: number, bytes: bytes))))
        }
        #expect(turns == ["start", "start", "wait", "wait", "refuse"])
    }

    @Test func `only so many pictures wait, however small they are`() {
        var machine = machine {
            $0.programs = 1
            $0.waitingPictures = 2
        }
        let turns = (0..<4).map { word(machine.want(PictureTicket(number: $0, bytes: 1))) }
        #expect(turns == ["start", "wait", "wait", "refuse"])
    }

    @Test func `a program that is done takes the picture that has waited for longest`() {
        var machine = machine()
        for number in 0..<4 { _ = machine.want(PictureTicket(number: number, bytes: 1)) }
        let next = machine.done("a", pictures: 1, survived: true, at: Self.start)
        #expect(next.waiter?.number == 2 && next.child?.child == "a" && next.child?.pictures == 1 && next.ended == nil)
        // A dead one is replaced for the picture that waits.
        let other = machine.done("b", pictures: 1, survived: false, at: Self.start)
        #expect(other.waiter?.number == 3 && other.child == nil && other.ended == "b")
    }

    @Test func `a picture that leaves gives its bytes back`() {
        var machine = machine { $0.programs = 1 }
        _ = machine.want(PictureTicket(number: 0, bytes: 1))
        let waiter = PictureTicket(number: 1, bytes: 100)
        expect(machine.want(waiter), "wait")
        expect(machine.want(PictureTicket(number: 2, bytes: 1)), "refuse")
        let answers = [machine.leave(waiter), machine.leave(waiter)]
        #expect(answers == [true, false])
        expect(machine.want(PictureTicket(number: 3, bytes: 1)), "wait")
    }

    @Test func `the warmest idle program works, and a program ends with its last picture`() {
        var machine = machine()
        for number in 0..<2 { _ = machine.want(PictureTicket(number: number, bytes: 1)) }
        _ = machine.done("a", pictures: 1, survived: true, at: Self.start)
        _ = machine.done("b", pictures: 2, survived: true, at: Self.start)
        expect(machine.want(PictureTicket(number: 2, bytes: 1)), "b after 2")
        let ended = machine.done("b", pictures: 3, survived: true, at: Self.start).ended
        #expect(ended == "b")
    }

    @Test func `idle programs end when their time is over, and none stays after the close`() {
        var machine = machine()
        for number in 0..<2 { _ = machine.want(PictureTicket(number: number, bytes: 1)) }
        _ = machine.done("a", pictures: 1, survived: true, at: Self.start)
        let early = machine.sweep(at: Self.start + .seconds(59))
        #expect(early.ended.isEmpty && early.next == Self.start + .seconds(60))
        let late = machine.sweep(at: Self.start + .seconds(60))
        #expect(late.ended == ["a"] && late.next == nil)
        let idle = machine.close()
        let busy = machine.done("b", pictures: 1, survived: true, at: Self.start).ended
        #expect(idle.isEmpty && busy == "b")
        expect(machine.want(PictureTicket(number: 3, bytes: 1)), "refuse")
    }
}
