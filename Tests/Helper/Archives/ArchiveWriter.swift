import GannetBase
import Results

/// A process that writes archives until it is killed, for Tests/Archives/trial.py and for the tests of Archives.
///
///     helper archives warc FOLDER INPUT START SIZE   recovers the folder, then writes the exchanges of INPUT from number START on, into files of
///                                                  some SIZE bytes; says `durable N` after each flush, and `ended` at last
///     helper archives shards FOLDER COUNT EACH       adds samples 0 to COUNT that no complete shard has, EACH in a shard; says `durable KEY…`
///     helper archives resources FOLDER INPUT         writes the bodies of INPUT as resources
///     helper archives keys                           reads URLs, one a line, and says their keys
enum ArchiveWriter: HelperJob {
    static func run(_ words: [String]) throws {
        switch words.dropFirst().first {
        case "warc" where words.count == 6:
            guard let start = Int(words[4]), let size = Int(words[5]) else { break }
            return try writeExchanges(words[2], words[3], start, size)
        case "shards" where words.count == 5:
            guard let count = Int(words[3]), let each = Int(words[4]) else { break }
            return try writeShards(words[2], count, each)
        case "resources" where words.count == 4: return try writeResources(words[2], words[3])
        case "keys":
            while let line = readLine() { print(SURT.key(line)) }
            return
        default: break
        }
        fatalError("A test starts this program, with what its first lines say.")
    }

    // MARK: Exchanges

    private static func writeExchanges(_ folder: String, _ input: String, _ start: Int, _ size: Int) throws {
        for file in try WARCWriter.recover(folder, prefix: "trial") { say("recovered \(file)") }
        let writer = WARCWriter(folder: folder, prefix: "trial", size: size, indexSize: size)
        var reader = ExchangeReader(try contents(input))
        var exchanges: [WARCExchange] = []
        while let exchange = reader.next() { exchanges.append(exchange) }
        say("began")
        let lanes = 4
        for first in stride(from: start, to: exchanges.count, by: 64) {
            let chunk = Array(exchanges[first..<min(first + 64, exchanges.count)])
            // Several threads write, as the workers of a run do.
            let threads = (0..<lanes).map { lane in
                OwnedThread(name: "lane") {
                    for number in stride(from: lane, to: chunk.count, by: lanes) {
                        do { try write(chunk[number], number: first + number, by: writer, folder) } catch { fatalError("\(error)") }
                    }
                }
            }
            for thread in threads { thread?.join() }
            try writer.flush()
            say("durable \(first + chunk.count)")
        }
        try writer.close()
        say("ended")
    }

    /// Every third body comes from a file.
    private static func write(_ exchange: WARCExchange, number: Int, by writer: WARCWriter, _ folder: String) throws {
        guard number % 3 == 0, case .bytes(let body) = exchange.body else {
            try writer.write(exchange)
            return
        }
        let path = "\(folder)/.body-\(number)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer {
            close(descriptor)
            unlink(path)
        }
        guard Descriptor.write(body, to: descriptor, at: 0) else { fatalError("A body cannot be written.") }
        var copy = exchange
        copy.body = .file(path: path, count: body.count)
        try writer.write(copy)
    }

    private static func writeResources(_ folder: String, _ input: String) throws {
        let writer = WARCWriter(folder: folder, prefix: "resources")
        var reader = ExchangeReader(try contents(input))
        while let exchange = reader.next() {
            var alone = WARCExchange(url: exchange.url, date: exchange.date, body: exchange.body)
            alone.contentType = "text/plain; charset=utf-8"
            try writer.write(alone)
        }
        try writer.close()
        say("ended")
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let bytes = Descriptor.contents(of: descriptor, atMost: Int(status.st_size)) else {
            fatalError("The input cannot be read.")
        }
        return bytes
    }

    // MARK: Shards

    private static func writeShards(_ folder: String, _ count: Int, _ each: Int) throws {
        var done: Set<String> = []
        for shard in try ShardWriter.shards(in: folder) { done.formUnion(try ShardWriter.samples(inShard: shard, of: folder).map(\.key)) }
        let writer = try ShardWriter(folder: folder, samples: each)
        say("began")
        for number in 0..<count {
            let key = "\(1_000_000_000 + number)"
            if done.contains(key) { continue }
            let picture = (0..<(number % 50 * 100 + 1)).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
            let place = try writer.add(
                key,
                [
                    ("jpg", .bytes(picture)), ("txt", .bytes(Array("caption \(number)".utf8))),
                    ("json", .bytes(Array("{\"number\": \(number)}".utf8))),
                ])
            if place.isComplete { say("durable \(place.shard)") }
        }
        if let last = try writer.close() { say("durable \(last)") }
        say("ended")
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
