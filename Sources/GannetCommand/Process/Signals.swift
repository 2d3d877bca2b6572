import Foundation

/// What the process does about signals, as a whole.
enum Signals {
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
