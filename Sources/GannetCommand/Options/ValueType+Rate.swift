import CommandLineKit

extension ValueType where Value == Duration {
    /// A number of requests a second, such as `2` or `0.5`, as the time from one to the next: in whole milliseconds, which is what the
    /// fleet counts in, and never faster than was asked for.
    static var rate: Self {
        Self("rate") { (text) throws(InvalidValue) in
            let isPlain = text.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }
            guard isPlain, let rate = Double(text), 0.001...1000 ~= rate else {
                throw InvalidValue("use a number from 0.001 to 1000, such as 2 or 0.5.")
            }
            return .milliseconds(Int((1000 / rate).rounded(.up)))
        }
    }
}
