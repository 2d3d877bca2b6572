/// What an option's value may be: how it is called in help, how a shell completes it, and how it is read.
package struct ValueType<Value: Sendable>: Sendable {
    package typealias Parse = @Sendable (String) throws(InvalidValue) -> Value

    /// The word between angle brackets in help: `<file>`.
    package let placeholder: String
    package let completion: Completion
    package let parse: Parse

    package init(_ placeholder: String, completion: Completion = .none, parse: @escaping Parse) {
        self.placeholder = placeholder
        self.completion = completion
        self.parse = parse
    }
}

/// What a shell may offer for a value.
package enum Completion: Sendable, Equatable {
    case none
    case file
    case folder
    case choices([String])
}

extension ValueType where Value == String {
    /// Any text but the empty one, which is nearly always an unset shell variable.
    package static func text(_ placeholder: String, completion: Completion = .none) -> Self {
        Self(placeholder, completion: completion) { (text) throws(InvalidValue) in
            guard !text.isEmpty else { throw InvalidValue("it is empty.") }
            guard !text.utf8.contains(0) else { throw InvalidValue("it contains a NUL byte.") }
            return text
        }
    }

    /// The path of a file; `-` is an ordinary value here and means what the command says it means.
    package static func file(_ placeholder: String = "file") -> Self {
        .text(placeholder, completion: .file)
    }

    package static func folder(_ placeholder: String = "dir") -> Self {
        .text(placeholder, completion: .folder)
    }

    /// One of many words, or of a kind that `alsoGood` knows; help has to list them, since an error would be too long.
    package static func name(
        _ placeholder: String, of words: [String], or alsoGood: @escaping @Sendable (String) -> Bool
    ) -> Self {
        Self(placeholder, completion: .choices(words)) { (text) throws(InvalidValue) in
            if words.contains(text) || alsoGood(text) { return text }
            let meant = Suggestion.closest(to: text, among: words)
            throw InvalidValue("there is no such \(placeholder)" + (meant.map { ". Did you mean '\($0)'?" } ?? "; '--help' lists them."))
        }
    }

    /// One of a list of words.
    package static func choice(_ placeholder: String, of words: [String]) -> Self {
        Self(placeholder, completion: .choices(words)) { (text) throws(InvalidValue) in
            guard words.contains(text) else {
                throw InvalidValue("use \(Sentence.alternatives(words.map { "'\($0)'" })).")
            }
            return text
        }
    }
}

extension ValueType where Value == Int {
    /// A whole number within `range`.
    package static func integer(_ placeholder: String = "count", in range: ClosedRange<Int>) -> Self {
        Self(placeholder) { (text) throws(InvalidValue) in
            guard Digits.areAll(text), let value = Int(text), range.contains(value) else {
                throw InvalidValue("use a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return value
        }
    }

    /// A number of bytes within `range`, such as `20MB` (10⁶) or `20MiB` (2²⁰).
    package static func size(_ placeholder: String = "size", in range: ClosedRange<Int>) -> Self {
        Self(placeholder) { (text) throws(InvalidValue) in
            let value = try ByteCount.parse(text)
            guard range.contains(value) else {
                throw InvalidValue(
                    "use a size from \(ByteCount.text(of: range.lowerBound)) to \(ByteCount.text(of: range.upperBound)).")
            }
            return value
        }
    }
}

extension ValueType where Value == Duration {
    /// A length of time within `range`, such as `500ms`, `8s` or `7d`.
    package static func duration(_ placeholder: String = "time", in range: ClosedRange<Duration>) -> Self {
        Self(placeholder) { (text) throws(InvalidValue) in
            let value = try TimeSpan.parse(text)
            guard range.contains(value) else {
                throw InvalidValue("use a time from \(TimeSpan.text(of: range.lowerBound)) to \(TimeSpan.text(of: range.upperBound)).")
            }
            return value
        }
    }
}
