-- Looks over a part of the namespace's keys: what belongs to a flight has one, and what waits for a host is waited for.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend   2 where to go on, 0 at first
-- Answer: {where to go on, 0 at the end, findings, the queues met, the numbers of the chains met,
--          lists of jobs that nothing leads to, each behind its queue, or nothing where it is of several}
local KEYS_AT_ONCE = 500
local queues, chainsMet, strays, chainsBefore = {}, {}, {}, chains

local function isLocked(id)
    local lock = redis.pcall('GET', lockOf(id))
    if type(lock) == 'table' then return true end
    return lock and call('HEXISTS', leases, lock) == 1
end

-- Followers are let go; some worker of theirs may sleep.
local function letGo(id, hasLock)
    local parked = namespace .. 'parked:' .. id
    local first = redis.pcall('LINDEX', parked, 0)
    local hasFollowers = type(first) == 'string'
    local job = hasFollowers and read(first)
    unlock(id, hasFollowers, ORPHANED, now)
    if job then wake(job.queue, 1) end
end

local inspect = {}

function inspect.lock(id)
    local lock = redis.pcall('GET', lockOf(id))
    if type(lock) == 'table' then return note('wrongType', 'the lock of ' .. nameOf(id)) end
    if lock and call('HEXISTS', leases, lock) == 0 and finds('lockWithoutFlight', nameOf(id)) then letGo(id, true) end
end

function inspect.parked(id)
    local key = namespace .. 'parked:' .. id
    local length = redis.pcall('LLEN', key)
    if type(length) == 'table' then return note('wrongType', 'the followers of ' .. nameOf(id)) end
    if length == 0 or isLocked(id) then return end
    -- A lock that is there without a flight is met by itself.
    if call('EXISTS', lockOf(id)) == 0 and finds('parkedWithoutFlight', nameOf(id)) then
        letGo(id, false)
    else
        strays[#strays + 1], strays[#strays + 2] = '', key
    end
end

function inspect.waiters(id)
    if type(redis.pcall('SCARD', namespace .. 'waiters:' .. id)) == 'table' then
        return note('wrongType', 'the waiting callers of ' .. nameOf(id))
    end
    if call('EXISTS', lockOf(id)) == 0 and finds('waitersWithoutFlight', nameOf(id)) then tellWaiters(id) end
end

function inspect.chain(number) chainsMet[#chainsMet + 1] = number end

-- A queue's name may hold anything that separates the parts of a key: the host that its jobs name shows where the name ends.
local function lookAtHeld(key)
    local elements = redis.pcall('LRANGE', key, 0, 1)
    local job = not elements.err and readLine('', elements)[1]
    if not job then return end
    for priority, name in ipairs(PRIORITIES) do
        local tail = ':held:' .. name .. ':' .. job.host
        if key:sub(-#tail) == tail then
            local queue, host = key:sub(#namespace + 3, -#tail - 1), hostOf(job.host)
            local due, mark = ofQueue(queue, 'due:' .. name), priority .. queue .. '\n'
            local at = call('ZSCORE', due, host.name)
            local isMarked = ('\n' .. host.marks):find('\n' .. mark, 1, true)
            -- With nothing in flight nobody announces that the host has room.
            if at and isMarked and not (at == NEVER and host.running == 0) then return end
            if finds('heldNotDue', 'the host ' .. host.name .. ' in the queue ' .. queue) then
                if not isMarked then changed(host).marks = host.marks .. mark end
                call('ZADD', due, now, host.name)
                wake(queue, 1)
            else
                strays[#strays + 1], strays[#strays + 2] = queue, key
            end
            return
        end
    end
end

-- What a queue's keys hold, by how they end.
local TYPES = {
    {':count$', 'hash'}, {':batches$', 'hash'}, {':workers$', 'hash'}, {':batch:%d+$', 'hash'}, {':ready:%l+$', 'list'},
    {':held:%l+:', 'list'}, {':foreign$', 'list'}, {':finished:%d+$', 'list'}, {':history$', 'list'}, {':due:%l+$', 'zset'},
    {':later$', 'zset'}, {':dead$', 'zset'}, {':idle$', 'zset'}, {':ended$', 'zset'}, {':beats$', 'zset'},
}

function inspect.q(rest, key)
    for _, kind in ipairs(TYPES) do
        if rest:find(kind[1]) then
            local found = call('TYPE', key).ok
            -- One that is gone was emptied by what has just been mended.
            if found ~= kind[2] and found ~= 'none' then return note('wrongType', "'q:" .. rest .. "', which has to be a " .. kind[2]) end
            break
        end
    end
    local queue = rest:match('^(.*):count$') or rest:match('^(.*):batches$')
    if queue and call('TYPE', key).ok == 'hash' then
        queues[#queues + 1] = queue
    elseif rest:find(':held:', 1, true) then
        lookAtHeld(key)
    end
end

call('HLEN', leases)
call('LLEN', namespace .. 'freed')
local pattern = namespace:gsub('[%*%?%[%]%^\\]', '\\%0') .. '*'
local page = call('SCAN', ARGV[2], 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE)
for _, key in ipairs(page[2]) do
    local kind, rest = key:sub(#namespace + 1):match('^(%l+):(.*)$')
    if kind and inspect[kind] then inspect[kind](rest, key) end
end
saveHosts()
if chains > chainsBefore then saveClock() end
return {page[1], report(), queues, chainsMet, strays}
