internal import GannetHTTP

extension WARCWriter {
    /// Writes the exchanges of a job. The place is that of the last answer, whose archive has all of them.
    /// - Parameter downloaded: The body that the job has got, and its digest; nil for a job that failed.
    /// - Throws: ``ArchiveError``.
    func write(_ exchanges: [WireRecord.Exchange], downloaded: (ArchiveContent, [UInt8])?) throws -> ArchivePlace? {
        var places: [ArchivePlace] = []
        var written: [WARCExchange] = []
        for exchange in exchanges {
            var made = WARCExchange(url: exchange.url, date: exchange.date, responseHead: exchange.answerHead)
            switch exchange.body {
            case .bytes(let bytes): made.body = .bytes(bytes)
            case .file(let file, let count): made.body = .file(path: file.path, count: count)
            case .downloaded:
                guard let (body, digest) = downloaded else { continue }
                made.body = body
                made.payloadDigest = digest
            }
            made.requestHead = exchange.requestHead.isEmpty ? nil : exchange.requestHead
            made.protocols = [exchange.protocolName]
            made.remoteAddress = exchange.remoteAddress
            made.truncation = exchange.cut.map { $0 == .length ? .length : .disconnect }
            written.append(made)
        }
        // The file of a body is removed with the last reference to it.
        try withExtendedLifetime(exchanges) {
            for exchange in written {
                let place = try write(exchange)
                places.append(ArchivePlace(file: place.file, offset: place.offset))
            }
            // An archive has ended between them. Its redirects would be lost with it, though the row is in another one.
            for (exchange, place) in zip(written, places) where place.file != places.last?.file { try write(exchange) }
        }
        return places.last
    }
}
