import GannetBase
import GannetHTTP
import Results

/// Reads the exchanges that Tests/Archives/trial.py has made up. Each value has its length in front, in four bytes.
struct ExchangeReader {
    private var reader: ByteReader

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    mutating func next() -> WARCExchange? {
        if reader.isAtEnd { return nil }
        let url = text()
        let date = date(text())
        let request = bytes()
        var exchange = WARCExchange(url: url, date: date, responseHead: bytes(), body: .bytes(bytes()))
        exchange.requestHead = request.isEmpty ? nil : request
        exchange.protocols = text().split(separator: ",").map(String.init)
        exchange.remoteAddress = text()
        exchange.cut = WireRecord.Cut(rawValue: text())
        return exchange
    }

    private mutating func bytes() -> [UInt8] {
        guard let count = reader.number(4), let bytes = reader.bytes(count) else {
            fatalError("The input ends in the middle of an exchange.")
        }
        return Array(bytes)
    }

    private mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    private func date(_ milliseconds: String) -> Date { Date(timeIntervalSince1970: Double(milliseconds).map { $0 / 1000 } ?? 0) }
}
