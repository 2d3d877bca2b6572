/// The sides of a picture, in pixels.
package struct PictureSize: Sendable, Hashable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    package var description: String { "\(width) x \(height)" }
}
