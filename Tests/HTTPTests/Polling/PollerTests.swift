import GannetBase
import Glibc
import Testing

@testable import GannetHTTP

@Suite struct PollerTests {
    private func ready(_ poller: Poller) -> [Int32] {
        var found: [Int32] = []
        poller.wait(milliseconds: 0)
        poller.takeReady { found.append($0.descriptor) }
        return found
    }

    @Test("A watched descriptor is reported, and an unwatched one is not")
    func watching() throws {
        let poller = try #require(Poller())
        let pipe = try #require(Wakeup())
        poller.watch(pipe.readDescriptor, .transfers, reads: true, writes: false)
        #expect(ready(poller) == [])
        pipe.signal()
        #expect(ready(poller) == [pipe.readDescriptor])
        poller.unwatch(pipe.readDescriptor, .transfers)
        #expect(ready(poller) == [])
        // Nor is the second look a busy one: the kernel has been told now.
        #expect(ready(poller) == [])
        poller.watch(pipe.readDescriptor, .transfers, reads: true, writes: false)
        #expect(ready(poller) == [pipe.readDescriptor])
    }

    @Test("A descriptor that is watched again before an event came is reported")
    func again() throws {
        let poller = try #require(Poller())
        let pipe = try #require(Wakeup())
        for _ in 0..<3 {
            poller.watch(pipe.readDescriptor, .transfers, reads: true, writes: false)
            poller.unwatch(pipe.readDescriptor, .transfers)
        }
        poller.watch(pipe.readDescriptor, .transfers, reads: true, writes: false)
        pipe.signal()
        #expect(ready(poller) == [pipe.readDescriptor])
    }

    @Test("A number that was closed and is used again is reported")
    func numberOfAnother() throws {
        let poller = try #require(Poller())
        let first = try #require(Wakeup())
        let number = first.readDescriptor
        poller.watch(number, .resolver, reads: true, writes: false)
        // The number is closed and used again in one step: another test might take it in between.
        let second = try #require(Wakeup())
        try #require(dup2(second.readDescriptor, number) == number)
        poller.forget(number)
        poller.watch(number, .resolver, reads: true, writes: false)
        second.signal()
        #expect(ready(poller) == [number])
        withExtendedLifetime(first) {}
    }

    @Test("An owner does not end another's watch")
    func owners() throws {
        let poller = try #require(Poller())
        let pipe = try #require(Wakeup())
        poller.watch(pipe.readDescriptor, .transfers, reads: true, writes: false)
        poller.unwatch(pipe.readDescriptor, .resolver)
        pipe.signal()
        var owner: Poller.Owner?
        poller.wait(milliseconds: 0)
        poller.takeReady { owner = $0.owner }
        #expect(owner == .transfers)
    }
}
