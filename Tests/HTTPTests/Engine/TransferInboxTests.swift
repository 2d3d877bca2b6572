import GannetBase
import Glibc
import Testing

@testable import GannetHTTP

@Suite struct TransferInboxTests {
    private func ticket(_ id: UInt64) throws -> TransferTicket {
        TransferTicket(id: id, request: DownloadRequest(url: "http://h/", body: .file(in: "/")), target: try CanonicalURL("http://h/"))
    }

    /// Whether the thread was woken since the last call.
    private func wasWoken(_ inbox: TransferInbox) -> Bool {
        var descriptor = pollfd(fd: inbox.wakeup.readDescriptor, events: Int16(POLLIN), revents: 0)
        defer { inbox.wakeup.reset() }
        return poll(&descriptor, 1, 0) == 1
    }

    @Test("The thread is woken once for all messages since it last looked") func waking() throws {
        let inbox = try #require(TransferInbox())
        inbox.start(try ticket(1))
        #expect(wasWoken(inbox))
        inbox.start(try ticket(2))
        inbox.cancel(try ticket(1))
        #expect(!wasWoken(inbox))
        let batch = inbox.take()
        #expect(batch.starts.map(\.id) == [1, 2])
        #expect(batch.cancellations == [1])
        #expect(!batch.stops)
        inbox.cancel(try ticket(2))
        #expect(wasWoken(inbox))
        #expect(inbox.take().starts.isEmpty)
    }

    @Test("After a stop no ticket is accepted, and earlier ones are handed back") func stopping() throws {
        let inbox = try #require(TransferInbox())
        inbox.start(try ticket(1))
        #expect(wasWoken(inbox))
        inbox.stop()
        inbox.start(try ticket(2))
        #expect(!wasWoken(inbox))
        let batch = inbox.take()
        #expect(batch.stops && batch.starts.map(\.id) == [1])
        #expect(inbox.take().stops)
        #expect(inbox.close().isEmpty)
        inbox.start(try ticket(3))
        inbox.stop()
        inbox.cancel(try ticket(1))
        #expect(!wasWoken(inbox))
        #expect(inbox.take().starts.isEmpty && inbox.close().isEmpty)
    }

    @Test("Tickets leave the queue in order, or from its middle, and leave no trace") func queue() throws {
        var queue = WaitingQueue<TransferTicket>()
        for id in 1...1000 { queue.append(try ticket(UInt64(id)), id: UInt64(id)) }
        for id in 2...999 { #expect(queue.remove(UInt64(id))?.id == UInt64(id)) }
        #expect(queue.remove(2) == nil)
        queue.append(try ticket(1001), id: 1001)
        #expect(queue.popFirst()?.id == 1)
        #expect(queue.popFirst()?.id == 1000)
        #expect(queue.popFirst()?.id == 1001)
        #expect(queue.popFirst() == nil)
        #expect(queue.isEmpty)
    }
}
