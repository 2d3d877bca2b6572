import GannetBase
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct MailboxTests {
    @Test func `the owner may not sleep while there are messages`() throws {
        let mailbox = try Mailbox<Int>(capacity: 10)
        #expect(mailbox.mayOwnerSleep())
        mailbox.ownerWoke()
        #expect(mailbox.post(1, weight: 1) == .accepted)
        #expect(!mailbox.mayOwnerSleep())
        var messages: [Int] = []
        #expect(mailbox.take(into: &messages, releasing: 0))
        #expect(messages == [1])
        #expect(mailbox.mayOwnerSleep())
    }

    @Test func `the owner may not sleep after the mailbox was closed`() throws {
        let mailbox = try Mailbox<Int>(capacity: 10)
        var messages: [Int] = []
        #expect(mailbox.take(into: &messages, releasing: 0))
        // Closed after the owner looked and before it sleeps: nobody will wake it.
        mailbox.close()
        #expect(!mailbox.mayOwnerSleep())
        #expect(!mailbox.take(into: &messages, releasing: 0))
        #expect(mailbox.post(1, weight: 1) == .closed)
    }

    @Test func `a message and a close wake a sleeping owner`() throws {
        for wake in [{ _ = $0.post(1, weight: 1) }, { $0.close() }] as [(Mailbox<Int>) -> Void] {
            let mailbox = try Mailbox<Int>(capacity: 10)
            #expect(mailbox.mayOwnerSleep())
            #expect(!isReadable(mailbox.wakeup.readDescriptor))
            wake(mailbox)
            #expect(isReadable(mailbox.wakeup.readDescriptor))
            mailbox.wakeup.reset()
            #expect(!isReadable(mailbox.wakeup.readDescriptor))
        }
    }

    @Test func `the weight of unreleased messages is bounded`() throws {
        let mailbox = try Mailbox<Int>(capacity: 10)
        #expect(mailbox.post(1, weight: 100) == .accepted)
        #expect(mailbox.post(2, weight: 1) == .full)
        var messages: [Int] = []
        _ = mailbox.take(into: &messages, releasing: 0)
        #expect(mailbox.post(2, weight: 1) == .full)
        messages = []
        _ = mailbox.take(into: &messages, releasing: 100)
        #expect(mailbox.post(2, weight: 10) == .accepted)
        #expect(mailbox.post(3, weight: 1) == .full)
    }
}
