// What the program uses of Foundation and C, under one name. On Linux it is FoundationEssentials: the whole of Foundation brings ICU's
// tables of languages and calendars along, which would be more than half of a program that has Swift's library linked in. One
// file that imports Foundation is enough to bring them back.
#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
@_exported import Glibc
#else
@_exported import Foundation
#endif
