/// Rows in the order of the list. One buffer has all their bytes: a list of 100 million lines allows no allocation for each line.
package struct RowBatch: Sendable {
    /// One row; -1 stands for a missing end.
    private struct Record {
        let number: Int
        var urlStart: Int32 = 0
        var urlEnd: Int32 = 0
        var idStart: Int32 = -1
        var idEnd: Int32 = -1
        var carriedStart: Int32 = -1
        var carriedEnd: Int32 = -1
        var problem: Int32 = -1
    }

    private var bytes: [UInt8] = []
    private var records: [Record] = []
    private var problems: [RowProblem] = []
    /// The list is an index of sitemaps, so its rows are sitemaps and no pages.
    package internal(set) var listsSitemaps = false

    package init() {}

    /// - Parameter capacity: The expected number of bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// - Note: A URL with a NUL byte, none at all, and an id or carried values beyond their limit make an invalid row.
    mutating func append(
        _ number: Int, url: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer? = nil, carried: [UInt8]? = nil
    ) {
        if url.isEmpty {
            refuse(number, .empty, id: id, carried: carried)
        } else if url.firstOffset(of: 0) != nil {
            refuse(number, .nul, id: id, carried: carried)
        } else {
            let start = bytes.count
            bytes.append(contentsOf: url)
            add(Record(number: number, urlStart: Int32(start), urlEnd: Int32(bytes.count)), id, carried)
        }
    }

    mutating func refuse(_ number: Int, _ problem: RowProblem, id: UnsafeRawBufferPointer? = nil, carried: [UInt8]? = nil) {
        problems.append(problem)
        add(Record(number: number, problem: Int32(problems.count - 1)), id, carried)
    }

    private mutating func add(_ record: Record, _ id: UnsafeRawBufferPointer?, _ carried: [UInt8]?) {
        var record = record
        if let id {
            (record.idStart, record.idEnd) = hold(id, atMost: Row.longestID, else: .idTooLong(limit: Row.longestID), of: &record)
        }
        if let carried {
            (record.carriedStart, record.carriedEnd) = hold(
                carried, atMost: Row.longestCarried, else: .carriedTooLong(limit: Row.longestCarried), of: &record)
        }
        records.append(record)
    }

    /// The place of a row's value in the buffer. A value beyond its limit has none, and is the row's problem unless that has one already.
    private mutating func hold(
        _ value: some Collection<UInt8>, atMost limit: Int, else problem: RowProblem, of record: inout Record
    ) -> (Int32, Int32) {
        guard value.count <= limit else {
            if record.problem < 0 {
                problems.append(problem)
                record.problem = Int32(problems.count - 1)
            }
            return (-1, -1)
        }
        bytes.append(contentsOf: value)
        return (Int32(bytes.count - value.count), Int32(bytes.count))
    }
}

extension RowBatch: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { records.count }

    package subscript(index: Int) -> Row {
        let record = records[index]
        let content: Row.Content =
            record.problem >= 0
            ? .invalid(problems[Int(record.problem)]) : .url(bytes[Int(record.urlStart)..<Int(record.urlEnd)])
        return Row(
            .line(record.number), content,
            id: record.idStart >= 0 ? bytes[Int(record.idStart)..<Int(record.idEnd)] : nil,
            carried: record.carriedStart >= 0 ? bytes[Int(record.carriedStart)..<Int(record.carriedEnd)] : nil)
    }
}

/// One row of a list: a URL as it is written, or the reason why there is none. It is not checked whether the URL can be fetched.
package struct Row: Sendable, Equatable {
    /// Its description is `line 7`.
    package enum Place: Sendable, Equatable, CustomStringConvertible {
        /// The line of the list on which it begins, from 1. Blank lines, comments and headers count.
        case line(Int)
        /// An argument of the command, from 1.
        case argument(Int)
        /// A finished job of a batch, from 1. Its list is not known.
        case finished(Int)

        package var description: String {
            switch self {
            case .line(let number): "line \(number)"
            case .argument(let number): "argument \(number)"
            case .finished(let number): "finished job \(number)"
            }
        }
    }

    package enum Content: Sendable, Equatable {
        /// Empty for a finished job whose URL is no longer known.
        case url(ArraySlice<UInt8>)
        case invalid(RowProblem)
    }

    package let place: Place
    package let content: Content

    /// The row's own name (`ListOptions.idColumn`), at most ``longestID`` bytes; they need not be UTF-8.
    package let id: ArraySlice<UInt8>?

    /// The values of the columns in `ListOptions.carried`: one JSON object on one line, at most ``longestCarried`` bytes. Each name is a key
    /// of it.
    package let carried: ArraySlice<UInt8>?

    package static let longestID = 1024
    package static let longestCarried = 8192

    package init(_ place: Place, _ content: Content, id: ArraySlice<UInt8>? = nil, carried: ArraySlice<UInt8>? = nil) {
        self.place = place
        self.content = content
        self.id = id
        self.carried = carried
    }

    package init(_ place: Place, url: String) { self.init(place, .url(Array(url.utf8)[...])) }

    /// The rows of a command's arguments.
    package static func arguments(_ urls: [String]) -> [Row] { urls.enumerated().map { Row(.argument($0 + 1), url: $1) } }

    /// The URL as it is written.
    package var url: String? { if case .url(let bytes) = content { String(decoding: bytes, as: UTF8.self) } else { nil } }
}
