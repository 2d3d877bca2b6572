import Testing

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
        // jobs brought, next lease end, what follows
        (4, Duration.seconds(30), [WorkerMachine.Action.lookAgain(after: .seconds(5))]),
        (3, .seconds(30), [.lookAgain(after: .seconds(5))]),
        (3, .seconds(2), [.lookAgain(after: .seconds(2))]),
        (0, nil, [.lookAgain(after: .seconds(5))]),
        (0, .zero, [.lookAgain(after: .milliseconds(10))]),
    ])
    func `after a claim it looks again in time, and claims nothing it could not start`(
        count: Int, next: Duration?, actions: [WorkerMachine.Action]
    ) {
        var machine = machine(4)
        _ = machine.start()
        #expect(machine.claimed(count, nextLeaseEnd: next) == actions)
        #expect(machine.active == count)
    }

    @Test func `a full claim means that there may be more, once a job has ended`() {
        var machine = machine(2)
        _ = machine.start()
        _ = machine.claimed(2, nextLeaseEnd: .seconds(30))
        #expect(machine.jobEnded() == [.claim(1)])
        #expect(machine.jobEnded() == [])
        #expect(machine.claimed(1, nextLeaseEnd: .seconds(30)) == [.claim(1)])
    }

    @Test func `a claim that brought less than it asked for is not repeated until something is heard`() {
        var machine = machine(2)
        _ = machine.start()
        _ = machine.claimed(1, nextLeaseEnd: .seconds(30))
        #expect(machine.jobEnded() == [])
        #expect(machine.heard() == [.claim(2)])
        #expect(machine.heard() == [])
    }

    @Test func `what is heard during a claim is not forgotten`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.heard() == [])
        #expect(machine.claimed(0, nextLeaseEnd: nil) == [.claim(2)])
        #expect(machine.claimed(0, nextLeaseEnd: nil) == [.finish])
    }

    @Test func `it ends with an empty queue only when that is asked for and nothing is in flight anywhere`() {
        for endsWhenEmpty in [true, false] {
            var machine = machine(2, endsWhenEmpty: endsWhenEmpty)
            _ = machine.start()
            #expect(machine.claimed(0, nextLeaseEnd: .seconds(30)) == [.lookAgain(after: .seconds(5))])
            #expect(machine.heard() == [.claim(2)])
            #expect(machine.claimed(0, nextLeaseEnd: nil) == [endsWhenEmpty ? .finish : .lookAgain(after: .seconds(5))])
        }
    }

    @Test func `the last job to end makes it look whether the queue is empty`() {
        var machine = machine(3, endsWhenEmpty: true)
        _ = machine.start()
        _ = machine.claimed(2, nextLeaseEnd: .seconds(30))
        #expect(machine.jobEnded() == [])
        #expect(machine.jobEnded() == [.claim(3)])
        #expect(machine.claimed(0, nextLeaseEnd: nil) == [.finish])
    }

    @Test func `after a failed claim it waits, whatever is going on around it`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.claimed(3, nextLeaseEnd: .seconds(30))
        _ = machine.jobEnded()
        #expect(machine.claimFailed(retryAfter: .seconds(1)) == [.lookAgain(after: .seconds(1))])
        #expect(machine.jobEnded() == [])
        #expect(machine.heard() == [.claim(2)])
    }

    @Test func `a stop claims nothing more and ends with the last job`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.claimed(3, nextLeaseEnd: .seconds(30))
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
            #expect(machine.claimFailed(retryAfter: .seconds(1)) == [.finish])
        } else {
            #expect(machine.claimed(1, nextLeaseEnd: .seconds(30)) == [])
            #expect(machine.jobEnded() == [.finish])
        }
    }

    @Test func `it looks past jobs of another version, once round, and ends when there are no others`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.claimed(0, foreign: 2, waiting: 5, nextLeaseEnd: nil) == [.claim(2)])
        #expect(machine.claimed(1, foreign: 1, waiting: 4, nextLeaseEnd: .seconds(30)) == [.claim(1)])
        #expect(machine.claimed(0, foreign: 1, waiting: 4, nextLeaseEnd: .seconds(30)) == [.claim(1)])
        #expect(machine.claimed(0, foreign: 1, waiting: 4, nextLeaseEnd: .seconds(30)) == [.claim(1)])
        #expect(!machine.onlyForeignWait)
        #expect(machine.claimed(0, foreign: 1, waiting: 4, nextLeaseEnd: .seconds(30)) == [.lookAgain(after: .seconds(5))])
        #expect(machine.onlyForeignWait)
        #expect(machine.jobEnded() == [.claim(2)])
        #expect(machine.claimed(0, foreign: 2, waiting: 4, nextLeaseEnd: nil) == [.finish])
    }

    @Test func `jobs that a claim ended make it look again at once`() {
        var machine = machine(2, endsWhenEmpty: true)
        _ = machine.start()
        #expect(machine.claimed(0, ended: 1, nextLeaseEnd: .seconds(30)) == [.claim(2)])
        #expect(machine.claimed(0, nextLeaseEnd: nil) == [.finish])
    }

    @Test func `a stop with nothing to do ends at once`() {
        var machine = machine(3)
        _ = machine.start()
        _ = machine.claimed(0, nextLeaseEnd: nil)
        #expect(machine.stop() == [.finish])
    }
}
