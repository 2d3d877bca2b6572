-- What there is for a URL, or the right to fetch it: for callers without a job.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 id   2 eight random bytes, the same for each call of one caller: a lock it has already is its own
--       3 the lease, ms   4 a channel on which the caller's process hears that the URL is free again, or nothing
--       5 refresh: only a page whose fetch began after (6) will do   6 queue time of the caller's first call, or -1 in that
--       7 how old a page may be, ms, or -1 for what the page itself says   8 the digest of a body that was not there, or nothing
-- Answer: {'fresh' or 'negative', queue time, page}   {'leased', queue time, token, a stale page or nothing}
--         {'busy', queue time, ms until the lock ends}   {'newer', queue time}: the page is a newer version's
local id, nonce, lease, channel = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local refresh, since, maxAge, missing = ARGV[5] == '1', tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local MOST_WAITERS = 1000

local bytes, lock = call('GET', pageOf(id)), call('GET', lockOf(id))
local ends = lock and tonumber(call('ZSCORE', expiry, lock) or 0)
local page = readPage(bytes)
call('HLEN', leases)
if page and page.isForeign then return {'newer', now} end
local isMissing = page and missing ~= '' and bytes:sub(PAGE_HEADER + 1, PAGE_HEADER + #missing) == missing
if isMissing then page = nil end
-- A caller is a job enqueued when it first called; now, if this is the first time.
local caller = {enqueued = since >= 0 and since or now + 1}
-- A failure stands for no longer than it says, however old an answer may be.
local hasEnded = page and page.isNegative and page.fresh <= now and page.ended < caller.enqueued
if page and not hasEnded and satisfies(page, caller, {refresh = refresh, maxAge = maxAge}) then
    return {page.isNegative and 'negative' or 'fresh', now, bytes}
end
local stale = page and page.isStored and not page.isNegative and bytes or ''

if lock and lock:sub(9) == nonce and ends > lived then return {'leased', now, lock, stale} end
if lock and ends > lived then
    if channel ~= '' then
        local waiters = namespace .. 'waiters:' .. id
        if call('SCARD', waiters) < MOST_WAITERS then call('SADD', waiters, channel) end
    end
    saveClock()
    return {'busy', now, max(1, ends - lived)}
end
if isMissing then call('DEL', pageOf(id)) end
if shortest == 0 or call('ZCARD', expiry) == 0 or lease < shortest then shortest = lease end
local token = newToken(nonce)
call('SET', lockOf(id), token)
call('HSET', leases, token, 'A' .. pack('>I6', now) .. id)
call('ZADD', expiry, lived + lease, token)
saveClock()
return {'leased', now, token, stale}
