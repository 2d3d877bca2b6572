internal import HTTPEngine

/// What this machine lacks when a URL is put off for no fault of its own.
package struct NetworkWant: Sendable, Equatable {
    package enum Part: Sendable, Hashable {
        case proxy, nameServer
    }

    package let part: Part
    /// What has been found out about it, without a full stop.
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
