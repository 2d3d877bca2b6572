/// A point in time by the wall clock, which is what HTTP's dates are held against.
package struct Moment: Sendable, Hashable, Comparable {
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (left: Self, right: Self) -> Bool { left.millisecondsSince1970 < right.millisecondsSince1970 }
}
