import GannetFetch
import GannetHTTP
import GannetPictures
import GannetQueue
import GannetRedis

extension FuzzTarget {
    /// The input is a byte that says what it is, and bytes that a cache has kept or another process has sent.
    static let cached = FuzzTarget(name: "cached", maximumLength: 2048) {
        answers.map { [0] + $0 } + answers.map { [1, 2, UInt8(0x80 | $0.count & 0x7f), UInt8($0.count >> 7)] + $0 + message }
            + records.map { [2] + $0 } + records.map { [3] + $0 } + failures.map { [4] + $0 } + messages.map { [5] + $0 }
            + words.map { [6] + $0 }
    } check: { (input) throws(BrokenInvariant) in
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch kind % 7 {
        case 0: try check(answer: bytes)
        case 1: try check(answerWithMessage: bytes)
        case 2: try check(record: bytes)
        case 3: try check(changedRecord: bytes)
        case 4: try check(failure: bytes)
        case 5: try check(message: bytes)
        default:
            guard let word = TierMessage(bytes) else { return }
            try require(word.bytes == bytes, "the word \(bytes) of another process has two forms")
        }
    }

    // MARK: Answers

    private static func check(answer bytes: [UInt8]) throws(BrokenInvariant) {
        guard let answer = StoredAnswer(decoding: bytes) else { return }
        try require(answer.encoded == bytes, "the answer \(bytes) has two forms")
        try check(use: answer, size: bytes.count)
    }

    private static func check(answerWithMessage bytes: [UInt8]) throws(BrokenInvariant) {
        guard let answer = StoredAnswer(decodingWithMessage: bytes) else { return }
        try require(answer.encodedWithMessage == bytes, "the answer \(bytes) has two forms")
        try check(use: answer, size: bytes.count)
    }

    /// No time and no text of an answer is a trap.
    private static func check(use answer: StoredAnswer, size: Int) throws(BrokenInvariant) {
        try require(answer.variableSize <= 66 * size, "an answer of \(size) bytes takes \(answer.variableSize)")
        for moment in [Moment(millisecondsSince1970: .min), Moment(millisecondsSince1970: 1_800_000_000_000), answer.receivedAt] {
            let moved = answer.received(at: moment)
            try require(moved.receivedAt == moment, "an answer that came at \(moment) came at \(moved.receivedAt)")
            let retention = moved.retention(at: moment, policy: FreshnessPolicy())
            try require(retention.fresh >= .zero && retention.keep > .zero, "an answer is kept for less than nothing")
            let headers = moved.headers(at: moment, isConfirmed: false)
            try require(headers["age"]?.first != "-", "an age below zero")
            guard StoredAnswer(decoding: moved.encoded) != nil else {
                throw BrokenInvariant(description: "a moved answer is not read again")
            }
        }
        try require(answer.contentType?.utf8.count ?? 0 <= 1024 && answer.fetchDuration >= .zero, "a fetch of less than nothing")
        _ = answer.conditions
    }

    // MARK: Records on disk

    private static let key = CacheKey(id: Array(0..<16))

    /// The bytes are a file of that key.
    private static func check(record bytes: [UInt8]) throws(BrokenInvariant) {
        guard let record = Self.record(in: bytes) else { return }
        try require(record.start(of: key) + record.body == bytes, "the record \(bytes) has two forms")
    }

    /// The bytes are metadata and a body, whose record has one changed byte. The body or the metadata are then not taken for what they were.
    private static func check(changedRecord bytes: [UInt8]) throws(BrokenInvariant) {
        guard bytes.count > 3 else { return }
        let count = Int(bytes[2]) % (bytes.count - 2)
        let record = DiskRecord(metadata: Array(bytes[3...].prefix(count)), body: Array(bytes[3...].dropFirst(count)))
        var file = record.start(of: key) + record.body
        try require(Self.record(in: file) == record, "a record read again is another")
        let place = (Int(bytes[0]) << 8 | Int(bytes[1])) % file.count
        file[place] ^= bytes[3] | 1
        guard let changed = Self.record(in: file) else { return }
        throw BrokenInvariant(description: "with a change at \(place), \(file) is \(changed)")
    }

    private static func record(in file: [UInt8]) -> DiskRecord? {
        DiskRecord.bodyOffset(in: file).flatMap { DiskRecord(file, body: Array(file[$0...]), of: key) }
    }

    // MARK: Outcomes of other processes

    /// The bytes are a failure in Redis.
    private static func check(failure bytes: [UInt8]) throws(BrokenInvariant) {
        guard let content = OutcomeContent(bytes[...]) else { return }
        let url = "https://user:pass-word@h/"
        let error = FetchError(content, url: url)
        let isTold = content.fields.values.contains { $0.contains("pass-word") } || content.url.contains("pass-word")
        try require(isTold || !"\(error)".contains("pass-word"), "a failure shows a password")
        try require(!"\(error)".unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }, "a failure has a control character")
        // The next process hears of the same class.
        let again = FetchError(OutcomeContent(error, url: content.url), url: url)
        try require(again.className == error.className, "\(error.className) is told as \(again.className)")
    }

    // MARK: Thumbnails

    private static func check(message bytes: [UInt8]) throws(BrokenInvariant) {
        if let (request, count) = ThumbnailRequest.read(bytes) {
            try require(request.head(count: count) == bytes, "the request \(bytes) has two forms")
            try require(
                ThumbnailRequest.sides.contains(request.width) && ThumbnailRequest.sides.contains(request.height), "a side too long")
        }
        if let (answer, count) = ThumbnailAnswer.read(bytes) {
            try require(answer.head(count: count) == bytes, "the answer \(bytes) has two forms")
            try require(0...ThumbnailAnswer.mostBytes ~= count, "an answer of \(count) bytes")
        }
    }

    // MARK: Inputs to begin with

    private static var answers: [[UInt8]] {
        let url = Array("https://example.org/a".utf8)
        let start: [UInt8] = [2, 0xc8, 0x01] + Array(repeating: 7, count: 32) + [4, 0x80, 0xd0, 0xc4, 0x91, 0xfa, 0x63]
        let times: [UInt8] = [0, 0, 0xc0, 0xa9, 0x07, 0, 0]
        let fields: [UInt8] = [2, 1, 10] + Array("max-age=60".utf8) + [4, 3] + Array("\"a\"".utf8)
        let plain = [3, 8] + start + times + fields + [UInt8(url.count)] + url
        let elsewhere = [3, 5] + start + times + fields + [UInt8(url.count)] + url + [10] + Array("https://b/".utf8)
        return [plain, elsewhere]
    }

    private static let message = [1] + Array("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nAge: 5\r\nX: y\r\n".utf8)

    private static var records: [[UInt8]] {
        let record = DiskRecord(metadata: [1, 2, 3], body: Array("body".utf8))
        return [record.start(of: key) + record.body, [0, 40, 5, 1] + Array("metadata, body".utf8)]
    }

    private static var failures: [[UInt8]] {
        ["timeout", "http-404", "dns", "cancelled", "connect", "new"].map { name in
            var content = OutcomeContent(url: "http://h/")
            content.fields = [.errorClass: name, .errorMessage: "The host did not answer in time (http://h/): slow."]
            return content.bytes
        }
    }

    /// The words of processes about a URL.
    private static var words: [[UInt8]] {
        ["u", "w", "y", "x"].map { Array($0.utf8) + Array(0..<16) } + [Array("w".utf8) + Array(0..<16) + Array("gannet:{g}inbox:é".utf8)]
    }

    private static var messages: [[UInt8]] {
        let request = ThumbnailRequest(width: 200, height: nil, fit: .cover, format: .webp).head(count: 5)
        let answers: [ThumbnailAnswer] = [
            .ready, .thumbnail(format: .webp, size: PictureSize(200, 100), original: PictureSize(400, 200)), .refused(.broken),
        ]
        return [request] + answers.map { $0.head(count: 9) }
    }
}
