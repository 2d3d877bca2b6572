package import ClusterState
package import HTTPEngine

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

    /// More than a line that is taken has.
    package static let mostBytes = RequestHeaders.mostBytes

    /// Throws when they are too many or too long together.
    package init(_ fields: [HeaderField]) throws(StateError) {
        self.fields = fields
        record = try RequestHeaders(fields.map { RequestHeaders.Line(name: $0.name, value: $0.value) })
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
