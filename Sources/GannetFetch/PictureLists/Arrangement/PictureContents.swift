public import FoundationEssentials

/// Arranged pictures: all of them in their order, and their sections.
///
/// A picture whose `id` an earlier one has is left out.
public struct PictureContents: Sendable {
    /// In the order in which they are shown: section by section.
    public let pictures: [Picture]
    /// None of them is empty.
    public let sections: [PictureSection]

    /// Where each picture was in the sequence that was arranged.
    let origins: [Int]
    private let positions: [Picture.ID: Int]

    /// Arranges pictures. A hundred thousand take a fraction of a second.
    public init(_ pictures: some Sequence<Picture>, _ arrangement: PictureArrangement = PictureArrangement()) {
        let given = Array(pictures)
        let sorted = arrangement.order.sorted(given)
        let groups = arrangement.grouping.map { PictureGroups(given, $0, arrangement) }
        let origins = groups?.flattened(sorted) ?? sorted
        let pictures = origins.map { given[$0] }

        self.origins = origins
        self.pictures = pictures
        positions = Dictionary(uniqueKeysWithValues: pictures.indices.lazy.map { (pictures[$0].id, $0) })
        if let groups {
            sections = groups.sections(pictures, origins)
        } else {
            sections = pictures.isEmpty ? [] : [PictureSection(start: nil, pictures: pictures[...])]
        }
    }

    /// The place of a picture among ``pictures``.
    public func position(of id: Picture.ID) -> Int? { positions[id] }
}

/// The pictures of a day, a week or a month.
public struct PictureSection: Sendable, Hashable, Identifiable {
    /// Where the day, week or month begins; nil for pictures without a date, and where there is no grouping.
    public let start: Date?
    /// A part of the list's pictures, with the indices that they have there.
    public let pictures: ArraySlice<Picture>

    public var id: Date? { start }
}

/// Prints how much there is. Pictures may be many, and an `id` may be a URL with a password.
extension PictureContents: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["pictures": pictures.count, "sections": sections.count], displayStyle: .struct)
    }
}

/// Prints how much there is: pictures may be many.
extension PictureSection: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["start": start as Any, "pictures": pictures.count], displayStyle: .struct) }
}

extension PictureArrangement.Order {
    /// The indices of the pictures in this order, the first of each `id`.
    func sorted(_ pictures: [Picture]) -> [Int] {
        var known = Set<Picture.ID>(minimumCapacity: pictures.count)
        let indices = pictures.indices.filter { known.insert(pictures[$0].id).inserted }
        // The keys are made once: a comparison would make them again and again.
        return switch self {
        case .given: indices
        case .newestFirst: sorted(indices) { pictures[$0].usableDate.map { -$0.timeIntervalSince1970 } }
        case .oldestFirst: sorted(indices) { pictures[$0].usableDate?.timeIntervalSince1970 }
        case .host: sorted(indices) { pictures[$0].url.host()?.lowercased() }
        case .largestFirst: sorted(indices) { pictures[$0].byteCount.map { 0 - max(0, $0) } }
        case .smallestFirst: sorted(indices) { pictures[$0].byteCount }
        }
    }

    private func sorted<Key: Comparable>(_ indices: [Int], by key: (Int) -> Key?) -> [Int] {
        var placed: [(key: Key, index: Int)] = []
        var others: [Int] = []
        placed.reserveCapacity(indices.count)
        for index in indices {
            if let key = key(index) { placed.append((key, index)) } else { others.append(index) }
        }
        placed.sort { ($0.key, $0.index) < ($1.key, $1.index) }
        return placed.map(\.index) + others
    }
}

extension Picture {
    /// Calendars promise nothing for a date that is no number, or thousands of years away.
    var usableDate: Date? {
        guard let date, (-62_135_596_800..<253_402_300_800).contains(date.timeIntervalSince1970) else { return nil }
        return date
    }
}
