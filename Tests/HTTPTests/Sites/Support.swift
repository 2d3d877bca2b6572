import GannetHTTP

/// The rules of a file for `gannet`.
func rules(_ file: String, for agent: String = "gannet") -> RobotsRules {
    RobotsFile(Array(file.utf8)).rules(for: agent)
}

/// The rules of one group for `*`.
func rules(forAll lines: String...) -> RobotsRules {
    rules((["User-agent: *"] + lines).joined(separator: "\n"))
}

extension RobotsRules {
    func allows(_ path: String) -> Bool { verdict(path: path) == .allowed }

    /// The number of the line that disallows the path.
    func line(for path: String) -> Int? {
        if case .disallowed(_, let line) = verdict(path: path) { line } else { nil }
    }
}
