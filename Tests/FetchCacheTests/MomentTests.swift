import FetchCache
import Testing

struct MomentTests {
    @Test func `an earlier moment is less than a later one`() {
        #expect(Moment(millisecondsSince1970: -1) < Moment(millisecondsSince1970: 0))
    }
}
