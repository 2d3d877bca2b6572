import GannetBasics

/// What the process does about signals, as a whole.
enum Signals {
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Swift's runtime takes SIGQUIT for a crash, prints a page of addresses, and goes on.
    static func quitAsUsual() {
        signal(SIGQUIT, SIG_DFL)
    }
}
