import Glibc

/// Writes a line to standard error.
func complain(_ sentence: String) {
    let line = "fuzz: \(sentence)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
}
