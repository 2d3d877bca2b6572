import Gannet
import GannetBasics

extension InputOptions {
    /// What tells this input from another, and from itself after a change; `nil` for standard input, which cannot be compared before it is
    /// read.
    var fingerprint: String? {
        switch source {
        case .file(let path):
            var status = stat()
            _ = stat(path, &status)
            return Fingerprint.of(urls + ["\(status.st_ino)", "\(status.st_size)", "\(status.modification)", "\(list)"])
        case .standardInput: return nil
        case nil: return Fingerprint.of(urls)
        }
    }
}

extension stat {
    fileprivate var modification: String {
        #if canImport(Glibc)
        "\(st_mtim.tv_sec).\(st_mtim.tv_nsec)"
        #else
        "\(st_mtimespec.tv_sec).\(st_mtimespec.tv_nsec)"
        #endif
    }
}
