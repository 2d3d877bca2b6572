/// Where in an object a field is: `url`, or `image.url` for the field `url` of the object in `image`. A name that has dots itself is found too.
struct FieldPath {
    enum Match: Equatable {
        case no
        case here
        /// What is looked for inside begins at this byte of the path.
        case inside(Int)
    }

    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Compares a name with what is left of the path from byte `start` on.
    func match(_ name: UnsafeRawBufferPointer, from start: Int) -> Match {
        let left = bytes.count - start
        guard name.count <= left else { return .no }
        for offset in 0..<name.count where name[offset] != bytes[start + offset] { return .no }
        if name.count == left { return .here }
        return bytes[start + name.count] == UInt8(ascii: ".") ? .inside(start + name.count + 1) : .no
    }
}
