/// The settings of a ``PictureList``.
public struct PictureListOptions: Sendable {
    /// The cells that are fetched ahead of the screen, in the direction of scrolling. Cells on the screen come first.
    /// A negative number counts as 0.
    public var ahead = 20

    /// The cells behind the screen that keep the picture they have. None is fetched there. A negative number counts as 0.
    public var behind = 20

    /// While the list scrolls, and after a jump, a cell is fetched once it has been near the screen for so long. Cells that pass by sooner
    /// cost no request.
    public var dwell: Duration = .milliseconds(30)

    /// The order of the pictures, and their sections.
    public var arrangement = PictureArrangement()

    /// The request for a picture, for headers or a smaller version. The list sets its priority.
    public var request: @Sendable (Picture) -> FetchRequest = { FetchRequest($0.url) }

    public init() {}

    /// The default options with changes.
    public init(_ change: (inout PictureListOptions) -> Void) { change(&self) }
}
