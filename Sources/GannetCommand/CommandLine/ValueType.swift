/// The type of an option's value: its name in help, how a shell completes it, and how it is read.
struct ValueType<Value: Sendable>: Sendable {
    /// The word between angle brackets in help: `<file>`.
    let placeholder: String
    let completion: Completion
    /// Throws a ``UsageError`` that says what to write instead.
    let parse: @Sendable (String) throws -> Value

    init(_ placeholder: String, completion: Completion = .none, parse: @escaping @Sendable (String) throws -> Value) {
        self.placeholder = placeholder
        self.completion = completion
        self.parse = parse
    }
}

/// The values that a shell may offer.
enum Completion: Sendable, Equatable {
    case none
    case file
    case folder
    case choices([String])
}

extension ValueType where Value == String {
    /// Any text but the empty one, which is nearly always an unset shell variable.
    static func text(_ placeholder: String, completion: Completion = .none) -> Self {
        Self(placeholder, completion: completion) { text in
            guard !text.isEmpty else { throw UsageError("it is empty.") }
            guard !text.utf8.contains(0) else { throw UsageError("it contains a NUL byte.") }
            return text
        }
    }

    /// The path of a file; `-` is an ordinary value here and means what the command says it means.
    static func file(_ placeholder: String = "file") -> Self {
        .text(placeholder, completion: .file)
    }

    static func folder(_ placeholder: String = "dir") -> Self {
        .text(placeholder, completion: .folder)
    }

    /// One of a list of words.
    static func choice(_ placeholder: String, of words: [String]) -> Self { choice(placeholder, of: words.map { (name: $0, value: $0) }) }
}

extension ValueType {
    /// One of a list of words, each of which stands for a value.
    static func choice(_ placeholder: String, of values: [(name: String, value: Value)]) -> Self {
        let words = values.map(\.name)
        return Self(placeholder, completion: .choices(words)) { text in
            guard let meant = values.first(where: { $0.name == text }) else {
                throw UsageError("use \(Sentence.alternatives(words.map { "'\($0)'" })).")
            }
            return meant.value
        }
    }
}

extension ValueType where Value: RawRepresentable<String> {
    static func choice(_ placeholder: String, of values: [Value]) -> Self {
        choice(placeholder, of: values.map { (name: $0.rawValue, value: $0) })
    }
}

extension ValueType where Value == Int {
    /// A whole number within `range`.
    static func integer(_ placeholder: String = "count", in range: ClosedRange<Int>) -> Self {
        Self(placeholder) { text in
            guard text.allSatisfy(isDigit), let value = Int(text), range.contains(value) else {
                throw UsageError("use a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return value
        }
    }

    /// A number of bytes within `range`, such as `20MB` (10⁶) or `20MiB` (2²⁰).
    static func size(_ placeholder: String = "size", in range: ClosedRange<Int>) -> Self {
        Self(placeholder) { text in
            let value = try ByteCount.parse(text)
            guard range.contains(value) else {
                throw UsageError(
                    "use a size from \(ByteCount.text(of: range.lowerBound)) to \(ByteCount.text(of: range.upperBound)).")
            }
            return value
        }
    }

    /// A number of bytes a second within `range`, such as `500k` or `1.5M`.
    static func speed(_ placeholder: String = "speed", in range: ClosedRange<Int>) -> Self {
        Self(placeholder) { text in
            guard let value = try? ByteCount.parse(text), range.contains(value) else {
                let bounds = "\(ByteCount.text(of: range.lowerBound)) to \(ByteCount.text(of: range.upperBound))"
                throw UsageError("use a number of bytes a second such as 500k, 1.5M or 2MB, from \(bounds).")
            }
            return value
        }
    }
}

extension ValueType where Value == Duration {
    /// A length of time within `range`, such as `500ms`, `8s` or `7d`.
    static func duration(_ placeholder: String = "time", in range: ClosedRange<Duration>) -> Self {
        Self(placeholder) { text in
            let value = try TimeSpan.parse(text)
            guard range.contains(value) else {
                throw UsageError("use a time from \(TimeSpan.text(of: range.lowerBound)) to \(TimeSpan.text(of: range.upperBound)).")
            }
            return value
        }
    }
}
