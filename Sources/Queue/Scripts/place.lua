--@ clock lists blocks counts hosts locks
-- Moves a job's request to the host that a redirect has led it to: its place where it was is given up, and it gets one there. Where there
-- is none, the request waits without a place: two hosts that lead to each other would block each other else. With the host in another
-- partition these are two calls, which may be repeated: the host's partition gives the place, and the URL's own takes the other back.
-- A caller without a job takes a place apart from its URL's lock: 'take', with random bytes for an id.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 the id   2 the token   3 the host   4 how many requests a host may have in flight   5 ms between two starts at one host
--       6 'both', 'take' or 'leave'   7 the lease, ms   8 how many requests a host has in flight before it answers
-- Answer: {1 it has its place there, also when it had it before, 2 there is none, 3 the host is given up, 0 its lease has ended;
--          ms until there may be one, or -1 where that is not known}
-- Requests that were redirected wait for a host under the name of a queue that there cannot be.
local LOST, THERE, FULL, HOPELESS, HOPS = 0, 1, 2, 3, ':'
local id, token, name, takes, isOwn = ARGV[1], ARGV[2], ARGV[3], ARGV[6] ~= 'leave', ARGV[6] ~= 'take'
local incarnation = sub(token, 9)
local holder = Locks.holderOf(incarnation)
Hosts.limit, Hosts.interval, Hosts.first = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[8])
local ends, place, lock = call('ZSCORE', Locks.leases, incarnation), call('HGET', holder, 'p' .. id), nil
if isOwn then lock = Locks.get(id) end
if ends and tonumber(ends) <= Clock.lived or isOwn and not (lock and lock.kind == 'L' and lock.token == token) then return {LOST, -1} end

local from = lock and not Locks.has(lock, Locks.MOVED) and Blocks.hostOf(lock.job) or place
if takes and from == name then return {THERE, -1} end
local target = takes and Hosts.of(name)
local at = takes and Hosts.opensAt(target)
if takes and Hosts.isHopeless(target) then return {HOPELESS, -1} end

Clock.writeAlsoWhenFull()
-- The host before has answered, if only by naming another.
if lock then
    local host = Locks.leavePlace(id, lock, holder)
    if host then Hosts.noteSuccess(host) end
    if not Locks.has(lock, Locks.MOVED) then
        Locks.set(lock, Locks.MOVED, true)
        Locks.write(id, lock)
    end
elseif place then
    call('HDEL', holder, 'p' .. id)
    Hosts.leave(place)
end
local answer = {THERE, -1}
if takes and Hosts.roomFor(target, HOPS) <= 0 then
    -- It waits there like a queue, and so a queue with many jobs leaves it a turn.
    if at == Hosts.NEVER or at <= Clock.now then Hosts.waitFor(target, HOPS) end
    answer = {FULL, at == Hosts.NEVER and -1 or at > Clock.now and at - Clock.now or Hosts.TURN_KEPT}
elseif takes then
    Hosts.enter(target, 1, HOPS)
    call('HSET', holder, 'p' .. id, name)
    if not ends then
        call('HSETNX', holder, 'last', pack('>I6I2', 0, 0))
        Clock.noteLease(tonumber(ARGV[7]))
        Locks.extend(incarnation, tonumber(ARGV[7]))
    end
end
Locks.finish()
return answer
