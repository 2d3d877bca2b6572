import GannetBase
import Testing

struct SharedFlagTests {
    @Test func `a flag is set until it is cleared, and of many who take it one finds it set`() async {
        let flag = SharedFlag()
        #expect(!flag.isSet && !flag.take())
        flag.set()
        let found = await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { flag.take() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(found == 1 && !flag.isSet)
        flag.set()
        #expect(flag.isSet)
        flag.set(false)
        #expect(!flag.isSet)
    }
}
