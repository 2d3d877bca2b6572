import Foundation
import GannetFetch

extension FetchRequest {
    /// Servers of the test kit give their URLs as texts.
    init(_ text: String, _ change: (inout FetchRequest) -> Void = { _ in }) {
        guard let url = URL(string: text) else { fatalError("The text is no URL: \(text)") }
        self.init(url, change)
    }
}
