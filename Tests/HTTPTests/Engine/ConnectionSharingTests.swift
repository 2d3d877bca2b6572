import Testing

@testable import GannetHTTP

/// Which transfers may have a connection, without libcurl.
@Suite struct ConnectionSharingTests {
    private let start = ContinuousClock.now
    private let origin = HostPort(host: "a.example", port: 443)

    /// An expectation cannot change a struct.
    private final class Sharing {
        var now = ConnectionSharing()

        func admits(_ id: UInt64, to origin: HostPort, at time: ContinuousClock.Instant) -> Bool {
            now.admits(id, to: origin, at: time)
        }
    }

    private func ends(_ number: Int) -> Connections.Ends {
        Connections.Ends(localPort: UInt16(number), remotePort: 443, remote: "192.0.2.1")
    }

    /// The transfers from 1 on that begin at once.
    private func begin(_ count: UInt64, _ sharing: Sharing) -> Int {
        (1...count).filter { sharing.admits($0, to: origin, at: start) }.count
    }

    private func goOn(_ sharing: Sharing, at now: ContinuousClock.Instant) -> [UInt64] {
        var ids: [UInt64] = []
        while let id = sharing.now.next(at: now) { ids.append(id) }
        return ids
    }

    @Test func `a few begin at an unknown origin, and all when it speaks the first version`() {
        let sharing = Sharing()
        #expect(begin(50, sharing) == ConnectionSharing.pioneers)
        #expect(goOn(sharing, at: start) == [])
        sharing.now.uses(ends(1), to: origin)
        #expect(goOn(sharing, at: start) == [])
        sharing.now.answers(origin, in: .one)
        #expect(goOn(sharing, at: start) == Array(5...50))
        #expect(sharing.admits(51, to: origin, at: start))
    }

    @Test func `with the second version as many begin as the connections have streams, and a few to open more`() {
        let sharing = Sharing()
        #expect(begin(1000, sharing) == 4)
        sharing.now.uses(ends(1), to: origin)
        sharing.now.answers(origin, in: .two)
        #expect(goOn(sharing, at: start).count == 100)
        // The same connection again is no other.
        sharing.now.uses(ends(1), to: origin)
        #expect(goOn(sharing, at: start) == [])
        for number in 2...6 { sharing.now.uses(ends(number), to: origin) }
        #expect(goOn(sharing, at: start).count == 6 * 100 + 6 - 104)
        for _ in 0..<10 { sharing.now.ended(to: origin) }
        #expect(goOn(sharing, at: start).count == 10)
        sharing.now.closed(ends(6))
        for _ in 0..<101 { sharing.now.ended(to: origin) }
        #expect(goOn(sharing, at: start).count == 0)
        sharing.now.ended(to: origin)
        #expect(goOn(sharing, at: start).count == 1)
    }

    @Test func `an origin that fails gives its room to those that wait`() {
        let sharing = Sharing()
        #expect(begin(6, sharing) == 4)
        sharing.now.ended(to: origin)
        #expect(goOn(sharing, at: start) == [5])
    }

    @Test func `nobody waits longer than a second for a silent origin`() {
        let sharing = Sharing()
        #expect(sharing.now.deadline == nil)
        #expect(begin(10, sharing) == 4)
        sharing.now.forget(6)
        #expect(sharing.now.deadline == start + .seconds(1))
        #expect(goOn(sharing, at: start + .milliseconds(999)) == [])
        #expect(goOn(sharing, at: start + .seconds(1)) == [5, 7, 8, 9, 10])
        #expect(sharing.now.deadline == nil)
    }

    @Test func `origins do not wait for each other, and one without transfers and connections is forgotten`() {
        let sharing = Sharing()
        #expect(begin(10, sharing) == 4)
        let other = HostPort(host: "a.example", port: 8443)
        #expect(sharing.admits(11, to: other, at: start))
        sharing.now.uses(ends(1), to: other)
        sharing.now.ended(to: other)
        #expect(sharing.now.size == 3)
        sharing.now.closed(ends(1))
        for id in 5...10 as ClosedRange<UInt64> { sharing.now.forget(id) }
        for _ in 0..<4 { sharing.now.ended(to: origin) }
        #expect(sharing.now.size == 0)
    }
}
