-- Flights: a URL that is being fetched, and who has it. The flight's token is the job's lease and the URL's lock in one.
--
--   'leases', a hash   token to flight: kind, when it began(6), then a job or an id
--                      'J' job   a job with its URL locked        'C' job   a job whose page is there; it is only delivered
--                      'A' id    a caller without a job           'W' id    a job waits for its next attempt, the URL stays locked
--   'expiry', a sorted set   token to the end of its lease, in lease time
--   'lock:<id>', a string    the token, set where there is none. It counts only while the token's lease lasts, and so can neither
--                            outlive it nor be outlived by it, whatever the clock does; it needs no time to live of its own.
--   'page:<id>', a string    the outcome; Page.swift writes and reads what follows its header:
--                            version 1, flags(1), token(16), ended(6), ms it took(4), seconds it is fresh for(4)
--   'parked:<id>', a list    jobs of any queue that wait for the flight's outcome; there are none without a flight
--   'waiters:<id>', a set    channels of the processes whose callers wait for it
--   'freed', a list          what became of flights that had followers: chain(6), verdict(1), began(6), ended(6), id. Any claim
--                            takes some of the followers on.
--   'chain:<number>', a list the followers
local DAY = 86400000
local NEGATIVE, NOT_STORED = 1, 2
local ORPHANED, SUCCEEDED, FAILED = 0, 1, 2
local leases, expiry = namespace .. 'leases', namespace .. 'expiry'
local PAGE_HEADER = 32

local function lockOf(id) return namespace .. 'lock:' .. id end
local function pageOf(id) return namespace .. 'page:' .. id end

local function newToken(nonce)
    tokens = tokens + 1
    return pack('>I8c8', tokens, nonce)
end

-- What a page says; nil where there is none, and `isForeign` where a newer version wrote it.
local function readPage(bytes)
    if not bytes then return nil end
    if bytes:byte(1) ~= 1 or #bytes < PAGE_HEADER then return {isForeign = true} end
    local flags, token, ended, took, fresh = unpackBytes('>Bc16I6I4I4', bytes, 2)
    return {
        bytes = bytes, token = token, began = ended - took, ended = ended, fresh = ended + fresh * 1000,
        isNegative = flags % 2 == 1, isStored = flags < NOT_STORED,
    }
end

local LONGEST = 4294967295

-- A number's digits; Redis finds them for itself with more trouble.
local wholeText
do
    local lastWhole, lastText
    function wholeText(number)
        if number ~= lastWhole then lastWhole, lastText = number, string.format('%.0f', number) end
        return lastText
    end
end

local function writePage(key, token, flags, began, fresh, keep, content)
    local header = '\1' .. pack('>Bc16I6I4I4', flags, token, now, min(LONGEST, now - began), min(LONGEST, floor(fresh / 1000)))
    call('SET', key, header .. content, 'PX', wholeText(keep))
end

-- Whether an outcome is one for this job: a fetch that ended after the job was enqueued in any case, also when the answer may not
-- be stored; an older one while it is fresh, or as young as the batch asks. A batch that refreshes wants a fetch begun after it.
local function satisfies(page, job, batch)
    if page.began >= job.enqueued then return true end
    if batch.refresh then return false end
    if page.ended >= job.enqueued then return true end
    if not page.isStored then return false end
    if batch.maxAge >= 0 then return now - page.ended <= batch.maxAge end
    return page.fresh > now
end

local function isLive(token)
    local ends = call('ZSCORE', expiry, token)
    return ends and tonumber(ends) > lived
end

local function tellWaiters(id)
    local key = namespace .. 'waiters:' .. id
    local channels = redis.pcall('SMEMBERS', key)
    if channels.err or #channels == 0 then return end
    for _, channel in ipairs(channels) do call('PUBLISH', channel, 'u' .. id) end
    call('DEL', key)
end

-- The strings under these keys, false where there is none. Most often none is there at all, which one look tells. Raises where one
-- has a value of another type, which MGET would not tell from none.
local function strings(keys)
    local missing = call('EXISTS', unpack(keys))
    if missing == 0 then return nil end
    local values = call('MGET', unpack(keys))
    for i = 1, #keys do
        if values[i] then missing = missing - 1 end
    end
    for i = 1, missing == 0 and 0 or #keys do
        if not values[i] then call('GET', keys[i]) end
    end
    return values
end

-- What the end of a flight has to know, read before it writes: whether the followers and the waiters are its own, whether there are
-- followers, and whether it has the lock. Once another has taken its URL over it has not, also when the other has ended meanwhile.
local function look(id, token)
    local lock = call('GET', lockOf(id))
    return not lock or lock == token, call('LLEN', namespace .. 'parked:' .. id) > 0, lock == token
end

-- Ends a flight that had its URL locked. Its followers are taken off in one step, as quickly when they are many as when they are
-- few; claims see to them.
local function unlock(id, hasFollowers, verdict, began)
    call('DEL', lockOf(id))
    tellWaiters(id)
    if not hasFollowers then return end
    chains = chains + 1
    call('RENAME', namespace .. 'parked:' .. id, namespace .. 'chain:' .. chains)
    call('RPUSH', namespace .. 'freed', pack('>I6BI6I6', chains, verdict, began, now) .. id)
end

local function forgetFlight(token)
    call('HDEL', leases, token)
    call('ZREM', expiry, token)
end
