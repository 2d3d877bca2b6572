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
        let groups = arrangement.sections(of: given)
        let origins = groups.flatMap { $0.indices }
        let pictures = origins.map { given[$0] }

        self.origins = origins
        self.pictures = pictures
        positions = Dictionary(uniqueKeysWithValues: pictures.indices.lazy.map { (pictures[$0].id, $0) })
        var end = 0
        sections = groups.map { group in
            let begin = end
            end += group.indices.count
            return PictureSection(start: group.start, pictures: pictures[begin..<end])
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

extension PictureArrangement {
    /// The indices of the pictures, section by section. Pictures without a date are the last section.
    fileprivate func sections(of pictures: [Picture]) -> [(start: Date?, indices: [Int])] {
        let sorted = order.sorted(pictures)
        guard let grouping else { return sorted.isEmpty ? [] : [(start: nil, indices: sorted)] }
        var starts = [Date?](repeating: nil, count: pictures.count)
        var current: DateInterval?
        // In order of time the calendar is asked once a section, and not once a picture.
        for index in Order.oldestFirst.sorted(pictures) {
            guard let date = pictures[index].usableDate else { break }
            if current.map({ date >= $0.end }) ?? true { current = calendar.dateInterval(of: grouping.component, for: date) }
            starts[index] = current?.start
        }
        let groups = Dictionary(grouping: sorted) { starts[$0] }
        let dated: [Date] = groups.keys.compactMap { $0 }
        let ordered = dated.sorted { order == .oldestFirst ? $0 < $1 : $0 > $1 }
        var inOrder: [Date?] = ordered
        inOrder.append(nil)
        return inOrder.compactMap { start in groups[start].map { indices in (start: start, indices: indices) } }
    }
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
