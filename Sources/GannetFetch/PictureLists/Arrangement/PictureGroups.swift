internal import FoundationEssentials

/// The group of each picture: the day, week or month of its date.
struct PictureGroups {
    /// The starts of the groups in the order of the sections. The last group has none: it has the pictures without a date.
    private var starts: [Date?] = []
    /// The group of each picture, by the picture's index.
    private var groups: [Int]

    init(_ pictures: [Picture], _ grouping: PictureArrangement.Grouping, _ arrangement: PictureArrangement) {
        // In order of time the calendar is asked once a section, and not once a picture.
        let dated = PictureArrangement.Order.oldestFirst.sorted(pictures).compactMap { index in
            pictures[index].usableDate.map { (index: index, date: $0) }
        }
        groups = [Int](repeating: -1, count: pictures.count)
        var current: DateInterval?
        for (index, date) in dated {
            if current.map({ date >= $0.end }) ?? true {
                current = arrangement.calendar.dateInterval(of: grouping.component, for: date)
                if let current { starts.append(current.start) }
            }
            if current != nil { groups[index] = starts.count - 1 }
        }
        if arrangement.order != .oldestFirst {
            starts.reverse()
            for index in groups.indices where groups[index] >= 0 { groups[index] = starts.count - 1 - groups[index] }
        }
        for index in groups.indices where groups[index] < 0 { groups[index] = starts.count }
        starts.append(nil)
    }

    /// The sorted indices group by group, each group in its order.
    func flattened(_ sorted: [Int]) -> [Int] {
        var next = [Int](repeating: 0, count: starts.count + 1)
        for index in sorted { next[groups[index] + 1] += 1 }
        for group in starts.indices { next[group + 1] += next[group] }
        var flattened = [Int](repeating: 0, count: sorted.count)
        for index in sorted {
            flattened[next[groups[index]]] = index
            next[groups[index]] += 1
        }
        return flattened
    }

    /// - Parameter origins: The indices of the pictures as ``flattened(_:)`` gave them.
    func sections(_ pictures: [Picture], _ origins: [Int]) -> [PictureSection] {
        var sections: [PictureSection] = []
        var begin = 0
        for position in origins.indices
        where position + 1 == origins.count || groups[origins[position + 1]] != groups[origins[begin]] {
            sections.append(PictureSection(start: starts[groups[origins[begin]]], pictures: pictures[begin...position]))
            begin = position + 1
        }
        return sections
    }
}
