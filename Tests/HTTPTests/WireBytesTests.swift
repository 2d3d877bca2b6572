import Foundation
import GannetTestKit
import Testing

@testable import GannetHTTP

/// Exchanges as a store keeps them.
@Suite struct WireBytesTests {
    private static func exchange(_ body: WireRecord.Body, cut: WireRecord.Cut? = nil, address: String? = "192.0.2.1") -> WireRecord.Exchange
    {
        WireRecord.Exchange(
            url: "http://h/ä?q=1", date: Date(timeIntervalSince1970: 1_700_000_000.123), requestHead: Array("GET / HTTP/1.1\r\n\r\n".utf8),
            answerHead: [0x48, 0xff, 0x00, 0x0a], body: body, cut: cut, protocolName: "h2", remoteAddress: address)
    }

    private static var kept: WireRecord.Kept {
        WireRecord.Kept(body: Array(1...32), exchanges: [exchange(.bytes([9])), exchange(.downloaded)])
    }

    @Test func `exchanges that were packed are the same`() throws {
        let folder = try TemporaryFolder()
        let record = WireRecord(fileIn: folder.path, beyond: 4)
        let file = folder.path + "/body"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file))
        record.add(Self.exchange(.bytes([]), cut: .length))
        record.add(Self.exchange(.file(WireFile(file), count: 3), cut: .disconnect, address: nil))
        record.add(Self.exchange(.downloaded))
        let bytes = try #require(try record.packed(body: nil, atMost: 1000))
        let read = try #require(WireRecord.unpacked(bytes)).exchanges
        #expect(read.map(\.url) == Array(repeating: "http://h/ä?q=1", count: 3) && read.map(\.cut) == [.length, .disconnect, nil])
        #expect(read.map(\.remoteAddress) == ["192.0.2.1", nil, "192.0.2.1"] && read.allSatisfy { $0.protocolName == "h2" })
        for one in read {
            #expect(one.date == Self.exchange(.downloaded).date && one.answerHead == [0x48, 0xff, 0x00, 0x0a])
            #expect(String(decoding: one.requestHead, as: UTF8.self) == "GET / HTTP/1.1\r\n\r\n")
        }
        guard case .bytes([]) = read[0].body, case .bytes([1, 2, 3]) = read[1].body, case .downloaded = read[2].body else {
            Issue.record("\(read)")
            return
        }
    }

    @Test func `too many bytes are not packed, and neither is nothing`() throws {
        let record = WireRecord(fileIn: "/nowhere", beyond: 100)
        #expect(try record.packed(body: nil, atMost: 1000) == nil)
        record.add(Self.exchange(.bytes(Array(repeating: 7, count: 50))))
        let size = try #require(try record.packed(body: nil, atMost: 1000)).count
        #expect(try record.packed(body: nil, atMost: size)?.count == size)
        #expect(try record.packed(body: nil, atMost: size - 1) == nil)
    }

    @Test func `cut, lengthened and foreign bytes are no exchanges`() throws {
        let bytes = try #require(try WireRecord.packed(Self.kept, atMost: 1000))
        #expect(WireRecord.unpacked(bytes)?.exchanges.count == 2 && WireRecord.unpacked(bytes)?.body == Self.kept.body)
        for count in bytes.indices { #expect(WireRecord.unpacked(Array(bytes[..<count])) == nil) }
        #expect(WireRecord.unpacked(bytes + [0]) == nil)
        #expect(WireRecord.unpacked([2] + bytes.dropFirst()) == nil)
    }
}
