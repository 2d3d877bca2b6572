import CommandLineKit

/// How many rows of a run may come to nothing.
enum FailureLimit: Sendable, Equatable {
    case rows(Int)
    case percent(Double)

    func allows(_ failures: Int, of rows: Int) -> Bool {
        switch self {
        case .rows(let most): failures <= most
        case .percent(let share): Double(failures) * 100 <= share * Double(rows)
        }
    }
}

extension ValueType where Value == FailureLimit {
    static var failureLimit: Self {
        Self("count|percent") { (text) throws(InvalidValue) in
            let problem = InvalidValue("use a number of rows such as 100, or a share of them such as 5% or 0.5%.")
            guard text.hasSuffix("%") else {
                guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let rows = Int(text) else { throw problem }
                return .rows(rows)
            }
            let digits = text.dropLast()
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2e }), let share = Double(digits), share <= 100
            else {
                throw problem
            }
            return .percent(share)
        }
    }
}
