// The parts of Foundation and C that the program uses, under one name. The whole of Foundation brings
// ICU's tables of languages and calendars along. They would be more than half of a program that has Swift's library linked in, and one
// file that imports Foundation is enough to bring them back.
@_exported import FoundationEssentials
@_exported import Glibc

extension stat {
    /// When the file was last written.
    package var modification: timespec { st_mtim }
}
