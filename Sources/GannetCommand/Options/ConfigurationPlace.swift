import GannetBase

/// `--config`: where the configuration file is.
///
/// A file in the working folder is read only if it is named. The folder may be anybody's, such as one that was unpacked a moment ago. Its file
/// could name a Redis that receives jobs and their headers, or a program for thumbnails.
struct ConfigurationPlace {
    static let name = "gannet.conf"

    static let flag = FlagEntry.configuration(
        "A file with options ('gannet help config' has its form). Without this option it is gannet/\(name) in XDG_CONFIG_HOME or ~/.config, if "
            + "it is there.")

    /// The file that is read where none is named. Nil where the user has no home.
    let usual: String?

    init(_ variables: [String: String]) {
        // The XDG rules say that a relative XDG_CONFIG_HOME is to be ignored.
        let folder = variables["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = variables["HOME"].flatMap { $0.isEmpty ? nil : $0 }
        usual = (folder ?? home.map { $0 + "/.config" }).map { "\($0)/gannet/\(Self.name)" }
    }

    /// The file that is named, or else the usual one; nil if nothing is at the usual place.
    func content(named: String?) throws(UsageError) -> (path: String, bytes: [UInt8])? {
        var status = stat()
        guard let path = named ?? usual.flatMap({ stat($0, &status) == 0 ? $0 : nil }) else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
        defer { close(descriptor) }
        guard let bytes = Descriptor.contents(of: descriptor, atMost: ConfigurationFile.mostBytes + 1) else {
            throw Self.unreadable(path, errno)
        }
        return (path, bytes)
    }

    private static func unreadable(_ path: String, _ code: Int32) -> UsageError {
        UsageError("The configuration file \(Sentence.quoted(path)) cannot be read: \(Descriptor.message(code)).")
    }
}
