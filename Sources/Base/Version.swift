/// The version of this program and library. Packaging reads it from this line.
package enum Version {
    package static let current = "0.1.0"
}
