internal import ClusterState
internal import HTTPEngine

/// What requests carry besides what every request has. A URL that is asked for with such headers is known by another id than without: they share no
/// lock, no outcome and no body. Values may be secrets, so what is printed of them is names.
package struct ExtraHeaders: Sendable, Equatable {
    let fields: [HeaderField]
    /// As a batch's record holds them.
    let record: RequestHeaders

    package static let none = ExtraHeaders()

    private init() {
        fields = []
        record = .none
    }

    /// Those of a batch.
    init(_ record: RequestHeaders) {
        fields = record.lines.compactMap { HeaderField(name: $0.name, value: $0.value) }
        self.record = record
    }

    /// In the order in which they were given, each once.
    package var names: [String] {
        var seen: Set<String> = []
        return fields.map(\.name).filter { seen.insert($0.lowercased()).inserted }
    }

    /// Why there can be no such headers.
    package struct Invalid: Error {
        /// Which of the lines is at fault; `nil` when they are too many.
        package let index: Int?
        /// A part of a sentence, without any value.
        package let description: String
    }

    /// More than a line that is taken has.
    package static let mostBytes = RequestHeaders.mostBytes

    /// - Parameter lines: Each as `Name: value`.
    package init(_ lines: [String]) throws(Invalid) {
        var fields: [HeaderField] = []
        for (index, line) in lines.enumerated() {
            do throws(HeaderRejection) {
                fields.append(try HeaderField(line: line))
            } catch {
                throw Invalid(index: index, description: error.description)
            }
        }
        self.fields = fields
        do throws(StateError) {
            record = try RequestHeaders(fields.map { RequestHeaders.Line(name: $0.name, value: $0.value) })
        } catch {
            throw Invalid(index: nil, description: error.description)
        }
    }
}

extension ExtraHeaders: CustomStringConvertible, CustomReflectable {
    package var description: String { names.joined(separator: ", ") }
    package var customMirror: Mirror { Mirror(self, children: ["names": names], displayStyle: .struct) }
}

extension Job {
    /// What the job's request carries; `nil` where some of it is missing, or cannot be sent by this version: without it another answer may come.
    var headerFields: [HeaderField]? {
        guard let lines = headers?.lines else { return nil }
        if lines.isEmpty { return [] }
        let fields = lines.compactMap { HeaderField(name: $0.name, value: $0.value) }
        return fields.count == lines.count ? fields : nil
    }
}
