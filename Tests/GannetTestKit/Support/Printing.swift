/// Every way in which Swift prints a value, to look for secrets in the texts.
package struct Printing {
    package let texts: [String]

    /// The value alone, and within others.
    package init(of value: Any) {
        var dumped = ""
        dump(value, to: &dumped)
        var dumpedWithin = ""
        dump(["key": Optional(value)], to: &dumpedWithin)
        texts = [
            "\(value)", String(describing: value), String(reflecting: value), dumped, "\([value])", "\(Optional(value) as Any)",
            dumpedWithin, "\(Mirror(reflecting: value).children.map { "\($0.value)" })",
        ]
    }

    /// The first text that shows the secret, as it is or as the numbers of its bytes.
    package func text(showing secret: String) -> String? {
        let bytes = secret.utf8.map { "\($0)" }
        return texts.first { text in
            text.contains(secret) || text.split { !("0"..."9").contains($0) }.map(String.init).contains(bytes)
        }
    }

    /// Whether every text of the value itself has this part. The texts of its children need not.
    package func shows(_ part: String) -> Bool { texts.dropLast().allSatisfy { $0.contains(part) } }
}
