internal import GannetHTTP

/// The part of the network that this machine lacks. A URL that is put off because of it is not at fault.
package struct NetworkWant: Sendable, Equatable {
    package enum Part: Sendable, Hashable {
        case proxy, nameServer
    }

    package let part: Part
    /// The details that the engine found out, without a full stop.
    package let detail: String

    package init(_ part: Part, detail: String) {
        self.part = part
        self.detail = detail
    }

    init?(_ error: FetchError) {
        switch error.kind {
        case .proxy: self.init(.proxy, detail: error.detail)
        case .dns(.nobodyAnswers): self.init(.nameServer, detail: error.detail)
        default: return nil
        }
    }
}
