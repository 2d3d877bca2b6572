--@ clock lists blocks counts hosts locks
-- What there is for a URL, or the right to fetch it: for callers without a job.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 id   2 the incarnation   3 the lease, ms   4 how long a request may hold its URL, ms   5 a channel on which the caller's process
--       hears that the URL is free again, or nothing   6 refresh: only an outcome whose fetch began after (7) will do   7 queue time of
--       the caller's first call, or -1 in that   8 how old an outcome may be, ms, or -1 for what it says itself   9 the digest of a body
--       that was not there, or nothing   10 random bytes of the call: a lock that it took before, its answer having been lost, is its own
-- Answer: {'fresh' or 'negative', queue time, outcome}   {'leased', queue time, token, a stale outcome or nothing}
--         {'busy', queue time, ms after which to ask again at the latest}   {'waits', queue time, the last failure}: another attempt is to come
--         {'ended'}: the lease of the incarnation has ended
local id, incarnation, lease, longest, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local refresh, since, maxAge, missing, own = ARGV[6] == '1', tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10]
local holder = Locks.holderOf(incarnation)
call('HLEN', holder)
local ends = call('ZSCORE', Locks.leases, incarnation)
if ends and tonumber(ends) <= Clock.lived then return {'ended'} end

local bytes, lock = call('GET', Locks.outcomeOf(id)), Locks.get(id)
local outcome = Locks.readOutcome(bytes)
-- It stays until the next one is there. Batches whose jobs ended with it still know their URL.
local isMissing = outcome and missing ~= '' and sub(bytes, Locks.OUTCOME_HEADER + 1, Locks.OUTCOME_HEADER + #missing) == missing
if isMissing then outcome = nil end
-- A caller is a job enqueued when it first called; now, if this is the first time.
local enqueued = since >= 0 and since or Clock.now + 1
-- A failure stands for no longer than it says, however old an answer may be.
local hasEnded = outcome and outcome.isNegative and outcome.fresh <= Clock.now and outcome.ended < enqueued
if outcome and not hasEnded and Locks.satisfies(outcome, enqueued, {refresh = refresh, maxAge = maxAge}) then
    return {outcome.isNegative and 'negative' or 'fresh', Clock.now, bytes}
end
local stale = outcome and outcome.isStored and not outcome.isNegative and bytes or ''

-- A lock is small and soon gone, and without it each process would fetch the URL.
Clock.writeAlsoWhenFull()
Locks.takeBackEnded()
if lock and lock.kind ~= 'W' then
    local other = sub(lock.token, 9)
    local otherEnds = tonumber(call('ZSCORE', Locks.leases, other) or nil)
    local isDead = not otherEnds or otherEnds <= Clock.lived
    if isDead or not Locks.isHeld(lock) then
        Locks.takeBackLock(id, Locks.holderOf(other), other, otherEnds and isDead)
    end
    lock = Locks.get(id)
end
local function finished(answer)
    Locks.finish()
    return answer
end
if lock and lock.kind == 'A' and lock.job == own then return finished({'leased', Clock.now, lock.token, stale}) end
if lock and lock.kind ~= 'W' then
    local isNoted = channel == ''
    for _, one in ipairs(lock.interested) do isNoted = isNoted or one.channel == channel end
    if not isNoted and #lock.interested < Locks.MOST_INTERESTED then
        table.insert(lock.interested, {channel = channel})
        Locks.write(id, lock)
    end
    -- Lease time goes on only while somebody calls.
    local left = tonumber(call('ZSCORE', Locks.leases, sub(lock.token, 9)) or 0) - Clock.lived
    return finished({'busy', Clock.now, max(1, min(left, Clock.step))})
end
if lock and lock.failure ~= '' then return finished({'waits', Clock.now, lock.failure}) end
Clock.noteLease(lease)
local token = Locks.newToken(incarnation)
lock = lock or Locks.new()
lock.kind, lock.token, lock.began, lock.deadline, lock.queue, lock.job = 'A', token, Clock.now, Clock.lived + longest, '', own
Locks.write(id, lock)
call('HSET', holder, id, '')
if not ends then call('HSETNX', holder, 'last', pack('>I6I2', 0, 0)) end
Locks.extend(incarnation, lease)
return finished({'leased', Clock.now, token, stale})
