import GannetTestKit
import Glibc
import Testing

@Suite(.timeLimit(.minutes(3))) struct DNSServerTests {
    /// A datagram socket connected to the server, and messages in bytes: no code is shared with the server.
    private final class Client {
        private let descriptor: Int32

        init(_ server: DNSServer) throws {
            descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = server.port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let status = withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(status == 0)
        }

        deinit { close(descriptor) }

        func send(_ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

        func receive() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            return count < 0 ? nil : Array(buffer[..<count])
        }
    }

    private static let name = [1] + Array("A".utf8) + [4] + Array("test".utf8) + [0]

    private func query(id: UInt8, type: UInt8) -> [UInt8] { [0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Self.name + [0, type, 0, 1] }

    @Test func `an answer is what RFC 1035 wants, byte by byte`() throws {
        let server = try DNSServer { question in
            question.name == "a.test" ? .addresses("192.0.2.7", "2001:db8::7", ttl: 258).through("b") : .refused
        }
        let client = try Client(server)
        client.send(query(id: 9, type: 1))
        let question = Self.name + [0, 1, 0, 1]
        let alias: [UInt8] = [0xc0, 12, 0, 5, 0, 1, 0, 0, 1, 2, 0, 3, 1, 0x62, 0]
        let address: [UInt8] = [1, 0x62, 0, 0, 1, 0, 1, 0, 0, 1, 2, 0, 4, 192, 0, 2, 7]
        #expect(client.receive() == [0, 9, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0] + question + alias + address)
        #expect(server.queries(for: "a.test", .a) == 1)
        #expect(server.queries(for: "a.test", .aaaa) == 0)
    }

    @Test func `a negative answer says for how long it may be remembered`() throws {
        let server = try DNSServer { _ in .nameError }
        let client = try Client(server)
        client.send(query(id: 1, type: 28))
        let answer = try #require(client.receive())
        #expect(answer[3] == 0x83)
        #expect(answer[6..<10] == [0, 0, 0, 1])
        #expect(answer.suffix(4) == [0, 0, 0, 60])
    }

    @Test func `a slow answer does not hold up the next`() throws {
        let server = try DNSServer { question in
            switch question.previous {
            case 0: .addresses("192.0.2.1").delayed(.milliseconds(60))
            case 1: .addresses("192.0.2.2").delayed(.milliseconds(30))
            case 2: .silence
            default: .addresses("192.0.2.4")
            }
        }
        let client = try Client(server)
        for id in 1...4 as ClosedRange<UInt8> { client.send(query(id: id, type: 1)) }
        #expect((0..<3).map { _ in client.receive()?.last } == [4, 2, 1])
        #expect(server.queries == 4)
    }

    @Test func `a datagram that is not a query is ignored`() throws {
        let server = try DNSServer { _ in .addresses("192.0.2.1") }
        let client = try Client(server)
        for bytes in [[], [1, 2, 3], Array(query(id: 1, type: 1).dropLast(3)), [UInt8](repeating: 0xff, count: 600)] { client.send(bytes) }
        client.send(query(id: 7, type: 1))
        #expect(client.receive()?[1] == 7)
        #expect(server.queries == 1)
    }

    @Test func `a server that was stopped is not there`() async throws {
        let server = try DNSServer { _ in .addresses("192.0.2.1") }
        let client = try Client(server)
        try await server.stop()
        client.send(query(id: 1, type: 1))
        #expect(client.receive() == nil)
        // Its port is free for another.
        let other = try DNSServer(port: server.port) { _ in .addresses("192.0.2.1") }
        let next = try Client(other)
        next.send(query(id: 2, type: 1))
        #expect(next.receive()?[1] == 2)
    }
}
