import Foundation
import GannetFetch

/// A list as a terminal shows it: a heading for each day, and a line for each picture.
public func lines(_ list: PictureListUpdate<FetchedImage>, favourites: Set<Picture.ID>) -> [String] {
    list.contents.sections.flatMap { section in
        [section.start?.formatted(.dateTime.year().month().day()) ?? "Without a date"]
            + section.pictures.map { picture in
                "\(favourites.contains(picture.id) ? "★" : " ") \(text(list[picture.id]))  \(picture)"
            }
    }
}

private func text(_ state: CellState<FetchedImage>) -> String {
    switch state {
    case .waiting: "·"
    case .loading(let progress): progress.fraction.map { "\(Int($0 * 100)) %" } ?? "\(progress.received) bytes"
    case .picture(let image): "\(image.format.name) \(image.size.map { "\($0)" } ?? "of any size")"
    case .failed(let error): "✗ \(error)"
    }
}

/// A picture of each line: a URL, and behind it a date such as 2026-06-01 where one is known.
public func pictures(_ text: String) -> [Picture] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
        let words = line.split(separator: " ")
        guard let url = words.first.flatMap({ URL(string: String($0)) }) else { return nil }
        let date = words.dropFirst().first.flatMap { try? Date(String($0), strategy: .iso8601.year().month().day()) }
        return Picture(url, date: date)
    }
}
