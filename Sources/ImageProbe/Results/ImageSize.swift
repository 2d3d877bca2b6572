/// Pixels across and down, both at least one.
package struct ImageSize: Sendable, Hashable, CustomStringConvertible {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var description: String { "\(width) × \(height)" }
}
