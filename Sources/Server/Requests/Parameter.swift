internal import Crawl
internal import GannetBase
internal import GannetQueue

/// A parameter of an endpoint: how it is checked, and how the OpenAPI document describes it.
package struct Parameter: Sendable {
    package enum Place: String, Sendable {
        case query, path, header
    }

    package enum Form: Sendable {
        case text
        /// At least one byte, and at most this many.
        case words(Int)
        /// As queues are named: letters, digits, dots, dashes and underscores.
        case name
        case url
        case number(ClosedRange<Int>)
        case choice([String])
        case flag
        /// A class of failures, as jobs have it.
        case errorClass
        /// From a thousandth, which is what the state can hold, up to a day.
        case seconds
        /// Minutes east of Greenwich, as time zones have them.
        case minutes
    }

    private static let longestURL = JobEntry.longestURL
    private static let times = 0.001...86_400.0
    private static let zones = -840...840

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
        switch form {
        case .text: return
        case .seconds:
            guard Self.seconds(text) != nil else {
                throw .badRequest("'\(name)' takes one number of seconds, from 0.001 up to a day, such as 2.5.")
            }
        case .words(let most):
            guard 1...most ~= text.utf8.count else { throw .badRequest("The parameter '\(name)' takes 1 to \(most) bytes.") }
        case .name:
            let isPlain = text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
            guard isPlain, 1...64 ~= text.utf8.count else {
                throw .badRequest("The parameter '\(name)' takes 1 to 64 letters, digits, dots, dashes and underscores.")
            }
        case .url:
            if text.isEmpty { throw .badRequest("The parameter '\(name)' is empty; it takes a URL.") }
            guard text.utf8.count <= Self.longestURL else {
                throw .badRequest("The parameter '\(name)' takes a URL of up to \(Self.longestURL) bytes.")
            }
        case .number(let range):
            guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(text), range.contains(number) else {
                throw .badRequest("The parameter '\(name)' takes a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
        case .choice(let words):
            guard words.contains(text) else { throw .badRequest("The parameter '\(name)' takes one of \(words.joined(separator: ", ")).") }
        case .errorClass:
            guard FailureClass.isKnown(text) else {
                throw .badRequest(
                    "The parameter '\(name)' takes a class of failures: http- and a status, or one of "
                        + "\(FailureClass.names.sorted().joined(separator: ", ")).")
            }
        case .minutes:
            guard Self.minutes(text) != nil else {
                throw .badRequest(
                    "The parameter '\(name)' takes a whole number of minutes from \(Self.zones.lowerBound) to \(Self.zones.upperBound).")
            }
        case .flag:
            guard ["true", "false"].contains(text) else { throw .badRequest("The parameter '\(name)' takes true or false.") }
        }
    }

    static func minutes(_ text: String) -> Int? {
        guard text.utf8.count <= 4, let minutes = Int(text), zones.contains(minutes), text.utf8.first != UInt8(ascii: "+") else {
            return nil
        }
        return minutes
    }

    /// A time in digits, with a point or without one.
    static func seconds(_ text: String) -> Duration? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }), let seconds = Double(text), times.contains(seconds)
        else { return nil }
        return .seconds(seconds)
    }

    var document: JSONValue {
        let schema: JSONValue =
            switch form {
            case .text: ["type": "string"]
            case .name: ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"]
            case .url: ["type": "string", "minLength": 1, "maxLength": .integer(Self.longestURL)]
            case .words(let most): ["type": "string", "minLength": 1, "maxLength": .integer(most)]
            case .number(let range): ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
            case .choice(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
            case .flag: ["type": "boolean"]
            case .errorClass:
                [
                    "type": "string",
                    "pattern": .string("^(http-[1-9][0-9]{2}|http-[1-5]xx|\(FailureClass.names.sorted().joined(separator: "|")))$"),
                ]
            case .minutes: ["type": "integer", "minimum": .integer(Self.zones.lowerBound), "maximum": .integer(Self.zones.upperBound)]
            case .seconds: ["type": "number", "minimum": .decimal(Self.times.lowerBound), "maximum": .decimal(Self.times.upperBound)]
            }
        return [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(isRequired), "description": .string(summary),
            "schema": schema,
        ]
    }
}
