import GannetHTTP
import Testing

@Suite struct BodyRoomTests {
    @Test func `a body that comes takes room until nobody holds it`() {
        let room = BodyRoom(limit: 100)
        var claim: BodyClaim? = room.claim()
        #expect(claim?.grow(by: 60) == true && claim?.grow(by: 40) == true && claim?.grow(by: 1) == false)
        #expect(room.used == 100 && room.refused == 1)
        claim = nil
        #expect(room.used == 0)
    }

    @Test func `claims of one array count once, and claims of equal arrays each`() {
        let room = BodyRoom(limit: 100)
        let body = [UInt8](repeating: 1, count: 60)
        var claims = [room.claim(body), room.claim(body), room.claim(body)]
        #expect(claims.allSatisfy { $0 != nil } && room.used == 60)
        #expect(room.claim([UInt8](repeating: 1, count: 60)) == nil)
        claims.removeLast(2)
        #expect(room.used == 60)
        claims = []
        #expect(room.used == 0)
        #expect(room.claim([]) != nil && room.used == 0)
    }
}
