extension Array {
    /// These in parts of so many bytes at most; an element that is larger is alone.
    func parts(ofBytes most: Int, size: (Element) -> Int) -> [[Element]] {
        var parts: [[Element]] = []
        var bytes = 0
        for element in self {
            let more = size(element)
            if parts.isEmpty || bytes + more > most {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(element)
            bytes += more
        }
        return parts
    }
}
