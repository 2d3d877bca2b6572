internal import Crawl
internal import GannetBase
internal import GannetQueue

/// A parameter of an endpoint: how it is checked, and how the OpenAPI document describes it.
package struct Parameter: Sendable {
    package enum Place: String, Sendable {
        case query, path, header
    }

    package let name: String
    var place = Place.query
    var form = Form.text
    var isRequired = false
    let summary: String

    package init(_ name: String, _ form: Form = .text, in place: Place = .query, required: Bool = false, _ summary: String) {
        self.name = name
        self.form = form
        self.place = place
        isRequired = required || place == .path
        self.summary = summary
    }

    /// Throws when the text is none of the parameter's values.
    func check(_ text: String) throws(Problem) {
        if let sentence = form.refusal(name, text) { throw .badRequest(sentence) }
    }

    var document: JSONValue {
        [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(isRequired), "description": .string(summary),
            "schema": form.schema,
        ]
    }
}

extension Parameter {
    /// The values that a parameter takes.
    package struct Form: Sendable {
        /// Their schema in the OpenAPI document.
        let schema: JSONValue
        /// The sentence that refuses a text as a parameter's value; nil for one of its values.
        let refusal: @Sendable (_ name: String, _ text: String) -> String?

        init(_ schema: JSONValue, refusal: @escaping @Sendable (_ name: String, _ text: String) -> String?) {
            self.schema = schema
            self.refusal = refusal
        }

        private init(_ schema: JSONValue, takes: String, _ isValue: @escaping @Sendable (String) -> Bool) {
            self.init(schema) { name, text in isValue(text) ? nil : "The parameter '\(name)' takes \(takes)." }
        }

        package static let text = Form(["type": "string"]) { _, _ in nil }

        /// At least one byte, and at most this many.
        package static func words(_ most: Int) -> Form {
            Form(["type": "string", "minLength": 1, "maxLength": .integer(most)], takes: "1 to \(most) bytes") { 1...most ~= $0.utf8.count }
        }

        /// As queues are named.
        package static let name = Form(
            ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"], takes: "1 to 64 letters, digits, dots, dashes and underscores"
        ) { text in
            1...64 ~= text.utf8.count
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }

        package static let url = Form(["type": "string", "minLength": 1, "maxLength": .integer(JobEntry.longestURL)]) { name, text in
            if text.isEmpty { return "The parameter '\(name)' is empty; it takes a URL." }
            let fits = text.utf8.count <= JobEntry.longestURL
            return fits ? nil : "The parameter '\(name)' takes a URL of up to \(JobEntry.longestURL) bytes."
        }

        package static func number(_ range: ClosedRange<Int>) -> Form {
            Form(integers(range), takes: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
                !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 } && Int(text).map { range.contains($0) } ?? false
            }
        }

        package static func choice(_ words: [String]) -> Form {
            Form(["type": "string", "enum": .array(words.map { .string($0) })], takes: "one of \(words.joined(separator: ", "))") {
                words.contains($0)
            }
        }

        package static let flag = Form(["type": "boolean"], takes: "true or false") { ["true", "false"].contains($0) }

        /// A class of failures, as jobs have it.
        package static let errorClass: Form = {
            let names = FailureClass.names.sorted()
            return Form(
                ["type": "string", "pattern": .string("^(http-[1-9][0-9]{2}|http-[1-5]xx|\(names.joined(separator: "|")))$")],
                takes: "a class of failures: http- and a status, or one of \(names.joined(separator: ", "))"
            ) { FailureClass.isKnown($0) }
        }()

        /// From a thousandth, which is what the state can hold, up to a day.
        package static let seconds = Form(
            ["type": "number", "minimum": .decimal(times.lowerBound), "maximum": .decimal(times.upperBound)]
        ) { name, text in
            readSeconds(text) == nil ? "'\(name)' takes one number of seconds, from 0.001 up to a day, such as 2.5." : nil
        }

        /// Minutes east of Greenwich, as time zones have them.
        package static let minutes = Form(
            integers(zones), takes: "a whole number of minutes from \(zones.lowerBound) to \(zones.upperBound)"
        ) { readMinutes($0) != nil }

        private static func integers(_ range: ClosedRange<Int>) -> JSONValue {
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        }

        private static let times = 0.001...86_400.0
        private static let zones = -840...840

        /// A time in digits, with a point or without one.
        static func readSeconds(_ text: String) -> Duration? {
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }), let seconds = Double(text),
                times.contains(seconds)
            else { return nil }
            return .seconds(seconds)
        }

        static func readMinutes(_ text: String) -> Int? {
            guard text.utf8.count <= 4, let minutes = Int(text), zones.contains(minutes), text.utf8.first != UInt8(ascii: "+") else {
                return nil
            }
            return minutes
        }
    }
}
