import GannetBasics
import Testing

@testable import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    @Test("A number that was closed and is used again is reported", arguments: [true, false])
    func numberOfAnother(isTold: Bool) throws {
        let poller = try #require(Poller())
        var first = Wakeup()
        let number = try #require(first?.readDescriptor)
        let owner: Poller.Owner = isTold ? .transfers : .resolver
        poller.watch(number, owner, reads: true, writes: false)
        first = nil
        if isTold { poller.forget(number) }
        let second = try #require(Wakeup())
        // The kernel gives the lowest free number; other tests may have been faster.
        let copy = dup2(second.readDescriptor, number)
        try #require(copy == number)
        defer { if second.readDescriptor != number { close(number) } }
        poller.watch(number, owner, reads: true, writes: false)
        second.signal()
        #expect(ready(poller) == [number])
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
