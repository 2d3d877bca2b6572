import GannetBasics

/// The file that this process runs from.
enum Executable {
    static var path: String {
        #if canImport(Darwin)
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #else
        // The link itself is still right when the file has been replaced or removed since; the path reads better in process lists.
        let link = "/proc/self/exe"
        var (running, found) = (stat(), stat())
        guard let resolved = realpath(link, nil) else { return link }
        defer { free(resolved) }
        guard stat(link, &running) == 0, stat(resolved, &found) == 0, running.st_ino == found.st_ino, running.st_dev == found.st_dev else {
            return link
        }
        return String(cString: resolved)
        #endif
    }
}
