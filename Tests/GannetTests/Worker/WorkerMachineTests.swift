import Testing

@testable import ClusterState
@testable import Gannet

@Suite struct WorkerMachineTests {
    private typealias Action = WorkerMachine.Action

    private func machine(_ concurrency: Int = 4, endsWhenEmpty: Bool = false) -> WorkerMachine {
        var options = WorkerOptions()
        options.concurrency = concurrency
        options.endsWhenEmpty = endsWhenEmpty
        return WorkerMachine(options)
    }

    @Test func `it begins with a claim for all it can start`() {
        var machine = machine(7)
        #expect(machine.start() == [.claim(7)])
    }

    @Test(arguments: [
        // jobs brought, what falls due, what follows
        (4, Duration.seconds(30), [WorkerMachine.Action.lookAgain(after: .seconds(5), maybeSooner: true)]),
        (3, .seconds(30), [.lookAgain(after: .seconds(5), maybeSooner: true)]),
        (3, .seconds(2), [.lookAgain(after: .seconds(2), maybeSooner: false)]),
        (0, nil, [.lookAgain(after: .seconds(5), maybeSooner: true)]),
        (0, .seconds(5), [.lookAgain(after: .seconds(5), maybeSooner: true)]),
        (0, .zero, [.lookAgain(after: .milliseconds(5), maybeSooner: false)]),
    ])
    func `after a claim it looks again in time, and claims nothing it could not start`(
        count: Int, next: Duration?, actions: [WorkerMachine.Action]
    ) {
        var machine = machine(4)
        _ = machine.start()
        #expect(machine.brought(count, next: next) == actions)
        #expect(machine.active == count)
    }

    @Test func `a full claim means that there may be more, once a job has ended`() {
        var machine = machine(2)
        _ = machine.start()
        _ = machine.brought(2)
        #expect(machine.jobEnded() == [.claim(1)])
        #expect(machine.jobEnded() == [])
        #expect(machine.brought(1) == [.claim(1)])
    }

    @Test func `a claim that brought less than it asked for is repeated when something is heard, or a job has ended`() {
        var machine = machine(2)
        _ = machine.start()
        _ = machine.brought(1)
        #expect(machine.heard() == [.claim(1)])
        #expect(machine.heard() == [])
        #expect(machine.brought(0) == [.claim(1)])
        #expect(machine.brought(0) == [.lookAgain(after: .seconds(5), maybeSooner: true)])
        // The job's host has a free place now, and no other worker is told.
        #expect(machine.jobEnded() == [.claim(2)])
    }

    @Test func `a claim that stopped at its bound is followed by the next at once`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.brought(0, isMore: true) == [.claim(2)])
        #expect(machine.brought(1, isMore: true) == [.claim(1)])
    }

    @Test func `no claim asks for more than may be asked for`() {
        var machine = machine(2500)
        #expect(machine.start() == [.claim(1000)])
        #expect(machine.brought(1000) == [.claim(1000)])
        #expect(machine.brought(1000) == [.claim(500)])
    }

    @Test func `a wake-up during a claim is not forgotten`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.heard() == [])
        #expect(machine.brought(0, left: .nothing) == [.claim(2)])
        #expect(machine.brought(0, left: .nothing) == [.finish])
    }

    @Test func `it ends with an empty queue only when that is asked for and nothing is left anywhere`() {
        for endsWhenEmpty in [true, false] {
            var machine = machine(2, endsWhenEmpty: endsWhenEmpty)
            _ = machine.start()
            let looks = [Action.lookAgain(after: .seconds(5), maybeSooner: true)]
            #expect(machine.brought(0, left: .jobs) == looks)
            #expect(machine.heard() == [.claim(2)])
            #expect(machine.brought(0, left: .nothing) == (endsWhenEmpty ? [.finish] : looks))
        }
    }

    @Test func `it does not end while it has a job itself, even if no other job is left`() {
        var machine = machine(3, endsWhenEmpty: true)
        _ = machine.start()
        _ = machine.brought(2)
        #expect(machine.jobEnded() == [.claim(2)])
        // The queue was cleared meanwhile.
        #expect(machine.brought(0, left: .nothing) == [.lookAgain(after: .seconds(5), maybeSooner: true)])
        #expect(machine.jobEnded() == [.claim(3)])
        #expect(machine.brought(0, left: .nothing) == [.finish])
    }

    @Test func `after a failed claim it waits, and then claims again`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.brought(2)
        _ = machine.heard()
        let pause = [Action.lookAgain(after: .seconds(1), maybeSooner: true)]
        #expect(machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: true) == pause)
        #expect(machine.heard() == [.claim(1)])
    }

    @Test func `a stop claims nothing more and ends with the last job`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.brought(3)
        #expect(machine.stop() == [])
        #expect(machine.heard() == [])
        #expect(machine.jobEnded() == [])
        #expect(machine.jobEnded() == [])
        #expect(machine.jobEnded() == [.finish])
        #expect(machine.stop() == [])
    }

    @Test(arguments: [true, false])
    func `a stop during a claim waits for what it brings`(failing: Bool) {
        var machine = machine(3)
        _ = machine.start()
        #expect(machine.stop() == [])
        if failing {
            #expect(machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: false) == [.finish])
        } else {
            #expect(machine.brought(1) == [])
            #expect(machine.jobEnded() == [.finish])
        }
    }

    @Test func `a claim without an answer is repeated also by a worker that is to stop, until it is answered`() {
        var machine = machine(3)
        _ = machine.start()
        let pause = [Action.lookAgain(after: .seconds(1), maybeSooner: true)]
        #expect(machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: true) == pause)
        #expect(machine.stop() == [])
        #expect(machine.heard() == [.claim(3)])
        #expect(machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: false) == pause)
        #expect(machine.heard() == [.claim(3)])
        #expect(machine.brought(2, isMore: true) == [])
        #expect(machine.jobEnded() == [])
        #expect(machine.jobEnded() == [.finish])
    }

    @Test func `a claim that can never be answered is not waited for`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.claimFailed(retryAfter: .seconds(1), mayHaveBrought: true)
        _ = machine.heard()
        #expect(machine.claimGivenUp() == [.finish])
    }

    @Test func `it ends when only jobs of another version are left`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.brought(1, left: .jobs) == [.lookAgain(after: .seconds(5), maybeSooner: true)])
        #expect(!machine.onlyForeignWait)
        #expect(machine.jobEnded() == [.claim(2)])
        #expect(machine.brought(0, left: .onlyForeign) == [.finish])
        #expect(machine.onlyForeignWait)
    }

    @Test func `a stop with nothing to do ends at once`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.brought(0)
        #expect(machine.stop() == [.finish])
    }
}

extension WorkerMachine {
    fileprivate mutating func brought(
        _ count: Int, left: Claim.Left = .jobs, isMore: Bool = false, next: Duration? = .seconds(30)
    ) -> [Action] {
        claimed(count, left: left, isMore: isMore, next: next)
    }
}
