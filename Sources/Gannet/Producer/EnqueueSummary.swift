/// What became of an input.
package struct EnqueueSummary: Sendable, Equatable {
    /// Became jobs.
    package var accepted = 0
    /// Were no URLs.
    package var invalid = 0
    /// The first of those.
    package var complaints: [Complaint] = []

    /// Where in the input something stands; its description is `line 7`.
    package enum Place: Sendable, Equatable, CustomStringConvertible {
        /// Of the command line, from 1.
        case argument(Int)
        /// Of the file, from 1.
        case line(Int)

        package var description: String {
            switch self {
            case .argument(let number): "argument \(number)"
            case .line(let number): "line \(number)"
            }
        }
    }

    package struct Complaint: Sendable, Equatable {
        package let place: Place
        package let reason: String
    }

    /// A file of ten million lines of something else is not repeated line by line.
    static let mostComplaints = 20

    mutating func refuse(_ place: Place, _ reason: String) {
        invalid += 1
        if complaints.count < Self.mostComplaints { complaints.append(Complaint(place: place, reason: reason)) }
    }
}
