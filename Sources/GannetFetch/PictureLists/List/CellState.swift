/// The state of a picture in a list, as a view draws it.
public enum CellState<Content: Sendable>: Sendable {
    /// Nothing is fetched for it: it is not near the screen, or its turn has not come.
    case waiting
    case loading(FetchProgress)
    case picture(Content)
    /// The error's description is a sentence for people.
    case failed(FetchError)
}

extension CellState: Equatable where Content: Equatable {}
extension CellState: Hashable where Content: Hashable {}
