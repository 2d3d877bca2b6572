// The parts of Foundation and C that the program uses, under one name. On Linux that is FoundationEssentials: the whole of Foundation brings
// ICU's tables of languages and calendars along. They would be more than half of a program that has Swift's library linked in, and one
// file that imports Foundation is enough to bring them back.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
@_exported import Glibc
#else
@_exported import Foundation
#endif

extension stat {
    /// When the file was last written. The field has two names.
    package var modification: timespec {
        #if canImport(Glibc)
        st_mtim
        #else
        st_mtimespec
        #endif
    }
}
