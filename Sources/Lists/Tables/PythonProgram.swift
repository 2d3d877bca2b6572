internal import GannetBase

/// The `python3` that the user's PATH finds first. In an activated virtual environment it is the environment's.
///
/// It runs isolated: neither the working directory nor variables such as PYTHONPATH say where its modules are.
package struct PythonProgram: Sendable {
    package let path: String

    static let name = "python3"

    /// The bytes of memory for data that a script may take. A page of a Parquet file can claim any size.
    static let memory = 4 << 30

    /// - Parameter search: The folders to look in, as PATH has them.
    package init(in search: String?) throws(TableFailure) {
        for folder in (search ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
            let path = "\(folder)/\(Self.name)"
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else { continue }
            self.path = path
            return
        }
        throw .noPython
    }

    /// Starts a script. The child has the descriptors that ``TableScript`` names, and a process group of its own: Ctrl-C is for its parent.
    /// - Parameters:
    ///   - input: Stays the caller's.
    ///   - output: Stays the caller's.
    func start(
        _ script: TableScript, _ options: [(key: String, value: JSONValue)], input: Int32, output: Int32
    ) throws(TableFailure)
        -> TableChild
    {
        guard let problems = Descriptor.pipe() else { throw .cannotStart(errno) }
        defer { close(problems.write) }
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nothing >= 0 else {
            let code = errno
            close(problems.read)
            throw .cannotStart(code)
        }
        defer { close(nothing) }
        let options = JSONValue.object(options + [("memory", .integer(Self.memory))]).text
        let pid = Spawn(
            path, words: [path, "-I", "-X", "utf8", "-c", script.text, options], environment: nil,
            descriptors: [input, output, nothing, problems.write], group: .own
        ).start()
        guard pid > 0 else {
            close(problems.read)
            throw .cannotStart(-pid)
        }
        return TableChild(pid, problems: problems.read, program: path)
    }
}

/// A script in the folder `Scripts`. Its first lines say what it reads and writes.
enum TableScript {
    case rows, manifest, check

    var text: String {
        let body: [UInt8] =
            switch self {
            case .rows: PackageResources.rows_py
            case .manifest: PackageResources.manifest_py
            case .check: Array("run(lambda: None)\n".utf8)
            }
        return String(decoding: PackageResources.start_py + body, as: UTF8.self)
    }
}
