import CAres

/// Set up once in a process, which c-ares wants before anything else.
enum AresLibrary {
    static let isReady = gannet_ares_start() != 0
}
