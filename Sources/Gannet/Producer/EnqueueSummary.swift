/// What became of an input.
package struct EnqueueSummary: Sendable, Equatable {
    /// Became jobs.
    package var added = 0
    /// Were waiting or in flight already.
    package var repeated = 0
    /// Were no URLs.
    package var invalid = 0
    /// The first of those, by line.
    package var complaints: [Complaint] = []

    package struct Complaint: Sendable, Equatable {
        package let line: Int
        package let reason: String
    }

    /// A file of ten million lines of something else is not repeated line by line.
    static let mostComplaints = 20

    mutating func refuse(_ line: Int, _ reason: String) {
        invalid += 1
        if complaints.count < Self.mostComplaints { complaints.append(Complaint(line: line, reason: reason)) }
    }
}
