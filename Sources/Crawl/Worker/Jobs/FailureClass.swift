internal import GannetHTTP
internal import GannetQueue

/// The error classes of jobs that were given up.
package enum FailureClass {
    /// All classes except those of statuses, which are `http-` and the number.
    package static let names = FetchError.Kind.classNames + [ExchangeRequest.poisonClass, ExchangeRequest.unreadableClass]

    package static func isKnown(_ name: String) -> Bool {
        names.contains(name) || FetchError.Kind(className: name) != nil || name.wholeMatch(of: /http-[1-5]xx/) != nil
    }

    /// A class as people write it: `404` is `http-404`, and `5xx` is `http-5xx`, which stands for many.
    package static func named(_ text: String) -> String {
        text.wholeMatch(of: /[1-5]([0-9]{2}|xx)/) != nil ? "http-\(text)" : text
    }
}
