import GannetTestKit

extension Fleet {
    /// Puts two URLs into the list, behind the first `count`, whose bodies come in drops for as long as the server is there.
    func slowList(after count: Int, more: [String] = []) throws -> HostileServer {
        let server = try HostileServer(
            .readUntil("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
            .sendAgain([UInt8](repeating: 46, count: 1000), times: .max, every: .milliseconds(100)))
        let slow = ["a", "b"].map { origin.url("/\($0).gate", through: server) }
        let urls = origin.urls[..<count] + slow + origin.urls[count...] + more
        try folder.write(Array(urls.joined(separator: "\n").utf8), to: "urls.txt")
        return server
    }
}
