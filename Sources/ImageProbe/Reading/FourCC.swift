/// Four characters that name a chunk or a box.
struct FourCC: Hashable, ExpressibleByStringLiteral {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }

    init(stringLiteral text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4, "a name of four characters")
        value = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}
