--@ clock blocks counts hosts locks
-- Moves a job's request to the host that a redirect has led it to: its place where it was is given up once it has one there. Where there
-- is none, the request keeps the place it has. With the host in another partition these are two calls, which may be repeated: the
-- host's partition takes the place, and then the URL's own gives the other up.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 the id   2 the token   3 the host   4 how many requests a host may have in flight   5 ms between two starts at one host
--       6 'both', 'take' or 'leave'   7 the lease, ms   8 the queue
-- Answer: {1 it has its place there, also when it had it before, 2 there is none, 3 the host is given up, 0 its lease has ended;
--          ms until there may be one, or -1 where that is not known}
local LOST, THERE, FULL, HOPELESS = 0, 1, 2, 3
local id, token, name, part = ARGV[1], ARGV[2], ARGV[3], ARGV[6]
Hosts.limit, Hosts.interval = tonumber(ARGV[4]), tonumber(ARGV[5])
local incarnation = sub(token, 9)
local holder = Locks.holderOf(incarnation)
local ends = call('ZSCORE', Locks.leases, incarnation)
if ends and tonumber(ends) <= Clock.lived then return {LOST, -1} end
local there = call('HGET', holder, 'p' .. id)

-- The host before has answered, if only by naming another.
local function giveUpPlace(lock)
    Clock.writeAlsoWhenFull()
    local host = Locks.leavePlace(id, lock, holder)
    if host then Hosts.noteSuccess(host) end
    if Locks.has(lock.flags, Locks.MOVED) then return end
    lock.flags = lock.flags + Locks.MOVED
    Locks.write(id, lock)
end

if part ~= 'take' then
    local bytes = call('HGET', Locks.key, id)
    local lock = bytes and sub(bytes, 2, 17) == token and Locks.read(bytes)
    if not lock or lock.kind ~= 'L' then return {LOST, -1} end
    local from = not Locks.has(lock.flags, Locks.MOVED) and sub(lock.job, 12, 11 + byte(lock.job, 11)) or there
    if part == 'both' and from == name then return {THERE, -1} end
    if part == 'leave' then
        giveUpPlace(lock)
        Locks.finish()
        return {THERE, -1}
    end
end
if there == name then return {THERE, -1} end
local target = Hosts.of(name)
local at = Hosts.opensAt(target)
if at > Clock.now and Hosts.isGivenUp(target) then return {HOPELESS, -1} end
if at == Hosts.NEVER then return {FULL, -1} end
if at > Clock.now then return {FULL, at - Clock.now} end
if Hosts.roomFor(target, ARGV[8]) <= 0 then
    Hosts.save()
    return {FULL, Hosts.TURN_KEPT}
end

Clock.writeAlsoWhenFull()
Hosts.enter(target)
if part == 'both' then
    giveUpPlace(Locks.read(call('HGET', Locks.key, id)))
elseif there then
    Hosts.leave(there)
end
call('HSET', holder, 'p' .. id, name)
if not ends then
    call('HSETNX', holder, 'last', pack('>I6I2', 0, 0))
    Clock.noteLease(tonumber(ARGV[7]))
    Locks.extend(incarnation, tonumber(ARGV[7]))
end
Locks.finish()
return {THERE, -1}
