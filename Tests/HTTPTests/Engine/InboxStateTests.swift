import Testing

@testable import GannetHTTP

@Suite struct InboxStateTests {
    private var inbox = InboxState()

    private func ticket(_ id: UInt64) throws -> TransferTicket {
        TransferTicket(
            id: id, request: DownloadRequest(url: "http://h/", body: .file(in: "/")), target: try CanonicalURL("http://h/"),
            asking: .none)
    }

    @Test("The thread is woken once for all messages since it last looked") mutating func waking() throws {
        #expect(inbox.start(try ticket(1)) == .wake)
        #expect(inbox.start(try ticket(2)) == .none)
        #expect(inbox.cancel(1) == .none)
        let batch = inbox.take()
        #expect(batch.starts.map(\.id) == [1, 2])
        #expect(batch.cancellations == [1])
        #expect(!batch.stops)
        #expect(inbox.cancel(2) == .wake)
        #expect(inbox.take().starts.isEmpty)
    }

    @Test("After a stop no ticket is accepted, and earlier ones are handed back") mutating func stopping() throws {
        #expect(inbox.start(try ticket(1)) == .wake)
        #expect(inbox.stop() == .none)
        #expect(inbox.start(try ticket(2)) == .refuse)
        #expect(inbox.take().stops)
        #expect(inbox.take().stops)
        #expect(inbox.close().isEmpty)
        #expect(inbox.start(try ticket(3)) == .refuse)
        #expect(inbox.stop() == .none)
        #expect(inbox.cancel(1) == .none)
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
