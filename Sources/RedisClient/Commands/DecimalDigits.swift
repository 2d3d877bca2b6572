/// Decimal text of integers without a `String` in between: a command has one length for each of its arguments.
enum DecimalDigits {
    /// How many characters `number` takes.
    static func count(of number: Int) -> Int {
        var count = number < 0 ? 2 : 1
        var rest = number.magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    /// Appends `number` to `buffer`.
    static func append(_ number: Int, to buffer: inout [UInt8]) {
        if number >= 0, number < 10 {
            buffer.append(48 &+ UInt8(truncatingIfNeeded: number))
            return
        }
        let count = count(of: number)
        var position = buffer.count + count
        buffer.append(contentsOf: repeatElement(45, count: count))
        var rest = number.magnitude
        repeat {
            position -= 1
            buffer[position] = 48 + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
    }
}
