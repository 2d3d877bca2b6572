--@ clock blocks counts hosts locks
-- Looks over a part of a partition for what has drifted, and mends it when asked. It sees and mends in one step, within a bound: on a live
-- system nothing can come in between. Examples name hosts, queues and the first bytes of URLs' ids: URLs and tokens may be secrets.
--
-- KEYS  1 '<tag>state'   2 '<q>queue', for its counters
-- ARGV  1 whether to mend   2 'keys', 'locks', 'hosts' or 'counts'
--       3 where to go on, 0 at first
-- Answer: {where to go on or 0, findings, queues that were met}; a finding is its kind, how many, and an example
local mends, part, cursor = ARGV[1] == '1', ARGV[2], ARGV[3]
local AT_ONCE, MOST_IN_ONE_STEP = 500, 50000
local findings, queues, left, hasMended = {}, {}, MOST_IN_ONE_STEP, false

local function note(kind, example, number)
    findings[#findings + 1], findings[#findings + 2], findings[#findings + 3] = kind, number or 1, example
end

-- Notes a finding. Answers whether it is to be mended.
local function finds(kind, example, number)
    if mends then Clock.writeAlsoWhenFull() end
    hasMended = mends
    note(kind, example, number)
    return mends
end

local function nameOf(id)
    return 'the URL ' .. id:sub(1, 4):gsub('.', function(byte) return string.format('%02x', byte:byte()) end) .. '…'
end

local function holds(id, lock, incarnation)
    return lock and (lock.kind == 'L' or lock.kind == 'A') and sub(lock.token, 9) == incarnation
end

local function checkHolder(incarnation)
    local holder = Locks.holderOf(incarnation)
    if not call('ZSCORE', Locks.leases, incarnation) and finds('leaseWithoutExpiry', 'a lease without an end') then
        repeat until Locks.takeBackFrom(incarnation, false) == 0
    end
    local suspect = call('HGET', holder, 'suspect')
    for _, field in ipairs(call('HKEYS', holder)) do
        local isGone = #field == 16 and not holds(field, Locks.read(call('HGET', Locks.key, field)), incarnation)
        if isGone and finds('flightWithoutLock', nameOf(field)) then call('HDEL', holder, field) end
        if isGone and mends and suspect == field then call('HDEL', holder, 'suspect') end
    end
end

-- Followers have a timer. Where it names no time, a lock or a list aside leads to them.
local function checkFollowers(id, queue)
    local block = Blocks.read(call('LINDEX', Blocks.followersOf(queue, id), 0) or '')
    if not block then return end
    local priority, at = Counts.batchOf(queue, block.batch).priority, nil
    for _, name in ipairs(Blocks.PRIORITIES) do at = at or call('ZSCORE', Blocks.ofQueue(queue, 'timers:' .. name), 'u' .. id) end
    local lock, isKnown = Locks.read(call('HGET', Locks.key, id)), at and at ~= 'inf'
    for _, one in ipairs(at and lock and lock.interested or {}) do isKnown = isKnown or (one.kind == 'q' and sub(one.name, 2) == queue) end
    for _, name in ipairs(Blocks.PRIORITIES) do
        local aside = Blocks.ofQueue(queue, 'aside:' .. name .. ':' .. block.host)
        isKnown = isKnown or (at and call('LPOS', aside, id, 'MAXLEN', MOST_IN_ONE_STEP))
    end
    if not isKnown and finds('parkedWithoutFlight', nameOf(id)) then
        call('ZADD', Blocks.ofQueue(queue, 'timers:' .. priority), Clock.now, 'u' .. id)
        Counts.wake(queue, 1)
    end
end

local function checkAside(name, queue)
    local priority, host = name:match('^(%l+):(.*)$')
    local timers = priority and host ~= '?' and Blocks.ofQueue(queue, 'timers:' .. priority)
    if timers and not call('ZSCORE', timers, 'h' .. host) and finds('heldNotDue', 'the host ' .. host .. ' in the queue ' .. queue) then
        call('ZADD', timers, Clock.now, 'h' .. host)
        Counts.wake(queue, 1)
    end
end

-- What keys hold, by how their names begin, and what is looked at in them.
local TYPES = {
    state = 'hash', hosts = 'hash', locks = 'hash', leases = 'zset', holder = 'hash', outcome = 'string', schema = 'string', queue = 'hash',
    batches = 'zset', batch = 'hash', finished = 'list', ready = 'list', timers = 'zset', followers = 'list', aside = 'list', dead = 'zset',
    idle = 'zset',
}
local CHECKS = {holder = checkHolder, followers = checkFollowers, aside = checkAside}

local function checkKeys()
    local page = call('SCAN', cursor, 'MATCH', tag:gsub('[%*%?%[%]%^\\]', '\\%0') .. '*', 'COUNT', AT_ONCE)
    for _, key in ipairs(page[2]) do
        local name = sub(key, #tag + 1)
        local queue, rest = name:match('^q:([^:]+):(.*)$')
        local kind, what = (rest or name):match('^(%l+):?(.*)$')
        local found = call('TYPE', key).ok
        if rest == 'queue' or rest == 'batches' then queues[#queues + 1] = queue end
        -- A key that is gone was emptied by what has just been mended.
        if found ~= TYPES[kind] and found ~= 'none' and TYPES[kind] then
            note('wrongType', "'" .. name:gsub('[%c\128-\255]', '?') .. "', which has to be a " .. TYPES[kind])
        elseif CHECKS[kind] and found ~= 'none' then
            CHECKS[kind](what, queue)
        end
    end
    cursor = page[1]
end

local function checkLocks()
    local page = call('HSCAN', Locks.key, cursor, 'COUNT', AT_ONCE)
    for i = 1, #page[2], 2 do
        local id, lock = page[2][i], Locks.read(page[2][i + 1])
        local incarnation, isFollowed = sub(lock.token, 9), false
        if lock.kind == 'W' then
            for _, one in ipairs(lock.interested) do
                isFollowed = isFollowed or (one.kind == 'q' and call('EXISTS', Blocks.followersOf(sub(one.name, 2), id)) == 1)
            end
            if not isFollowed and finds('retryWithoutJob', nameOf(id)) then call('HDEL', Locks.key, id) end
        elseif lock.kind ~= 'L' and lock.kind ~= 'A' then
            note('notChecked', 'the lock of ' .. nameOf(id))
        elseif not call('ZSCORE', Locks.leases, incarnation) or call('HEXISTS', Locks.holderOf(incarnation), id) == 0 then
            if finds('lockWithoutFlight', nameOf(id)) then Locks.takeBackLock(id, Locks.holderOf(incarnation), incarnation, false) end
        end
    end
    cursor = page[1]
end

local function isTooMany(number, what)
    if left >= 0 and left < number then note('notChecked', what) end
    left = left - number
    return left < 0
end

-- Calls a function for all that is held: with the field, its value, and the lock where a job has it.
local function forAllHeld(body)
    for _, incarnation in ipairs(call('ZRANGE', Locks.leases, 0, MOST_IN_ONE_STEP)) do
        local holder = Locks.holderOf(incarnation)
        if isTooMany(1 + call('HLEN', holder), 'URLs that are being fetched') then return end
        local held = call('HGETALL', holder)
        for i = 1, #held, 2 do
            local lock = #held[i] == 16 and Locks.read(call('HGET', Locks.key, held[i]))
            body(held[i], held[i + 1], lock and lock.kind == 'L' and lock)
        end
    end
end

local function checkHosts()
    local running = {}
    local function add(name) running[name] = (running[name] or 0) + 1 end
    forAllHeld(function(field, value, lock)
        if #field == 17 and byte(field) == 112 then add(value) end
        local isHere = lock and not Locks.has(lock.flags, Locks.MOVED) and not Locks.has(lock.flags, Locks.NO_PLACE)
        if isHere then add(sub(lock.job, 12, 11 + byte(lock.job, 11))) end
    end)
    if left < 0 or isTooMany(call('HLEN', tag .. 'hosts'), 'hosts') then return end
    for _, name in ipairs(call('HKEYS', tag .. 'hosts')) do
        if byte(name) ~= 61 and byte(name) ~= 63 then running[name] = running[name] or 0 end
    end
    for name, number in pairs(running) do
        local host = Hosts.of(name)
        local example = 'the host ' .. name .. ': ' .. number .. ' where ' .. host.running .. ' are counted'
        if host.running ~= number and finds('hostCount', example) then Hosts.changed(host).running = number end
    end
end

-- Counts a queue's jobs anew, and compares its counters and those of its batches. Jobs that are ready are what was accepted and is nothing
-- else. Where there are fewer, jobs are lost: they count as failed, so that what waits for the end of their batch hears of it. Where there
-- are more, they were accepted all the same.
local PARTS = {'active', 'parked', 'delayed'}
local function checkCounts()
    local queue, there, isReadable = KEYS[2]:sub(#tag + 3, -7), {}, true
    local what = 'the queue ' .. queue
    local function found(number, part, by)
        local is = there[number] or {active = 0, parked = 0, delayed = 0, ready = 0}
        there[number] = is
        if part then is[part] = is[part] + by end
    end
    local function add(element, part)
        local block = Blocks.read(element)
        if block then found(block.batch, part, block.count) end
        if not block and element ~= Blocks.GONE and #element ~= 16 then isReadable = false end
    end
    local function addList(key, isFollowers)
        local length = call('LLEN', key)
        if isTooMany(1 + length, 'jobs of ' .. what) then return end
        for from = 0, length - 1, AT_ONCE do
            for _, element in ipairs(call('LRANGE', key, from, from + AT_ONCE - 1)) do
                add(element, isFollowers and Blocks.stateOf(element) or 'ready')
            end
        end
    end
    forAllHeld(function(field, value, lock)
        local isDelivery = #field == 17 and byte(field) == 100 and sub(value, 2, 1 + byte(value)) == queue
        local job = isDelivery and sub(value, 2 + byte(value)) or lock and lock.queue == queue and lock.job
        if job then add(job, 'active') end
    end)
    for _, priority in ipairs(Blocks.PRIORITIES) do
        local timers = Blocks.ofQueue(queue, 'timers:' .. priority)
        addList(Blocks.ofQueue(queue, 'ready:' .. priority))
        if isTooMany(call('ZCARD', timers), 'jobs of ' .. what) then return end
        for _, member in ipairs(call('ZRANGE', timers, 0, -1)) do
            local kind, name = sub(member, 1, 1), sub(member, 2)
            if kind == 'd' then add(sub(member, 10), 'delayed') end
            if kind == 'u' then addList(Blocks.followersOf(queue, name), true) end
            if kind == 'h' then addList(Blocks.ofQueue(queue, 'aside:' .. priority .. ':' .. name)) end
        end
    end
    if call('LLEN', Blocks.ofQueue(queue, 'aside:newer')) > 0 or not isReadable then note('notChecked', what .. ': some jobs cannot be read') end
    if #findings > 0 then return end
    local known = call('ZRANGE', Blocks.ofQueue(queue, 'batches'), 0, -1, 'WITHSCORES')
    for i = 2, #known, 2 do found(tonumber(known[i])) end

    -- Compares the counters of a key with what is there. Answers how many jobs are missing there.
    local function compare(key, whose, total, is, told)
        local names, counted = {total, 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'}, {}
        for i, value in ipairs(call('HMGET', key, unpack(names))) do counted[names[i]] = tonumber(value or 0) or 0 end
        for _, part in ipairs(PARTS) do
            local example = part .. ' of ' .. whose .. ': ' .. is[part] .. ' where ' .. counted[part] .. ' are counted'
            if counted[part] ~= is[part] and finds('counter', example) then call('HSET', key, part, is[part]) end
        end
        local lost = counted[total] - counted.done - counted.failed - counted.cancelled - is.active - is.parked - is.delayed - is.ready
        -- Those that batches miss are missing from their queue as well, and told of once.
        if lost > 0 and finds('jobsLost', 'of ' .. whose .. ': ' .. lost, max(0, lost - max(0, told))) then
            call('HINCRBY', key, 'failed', lost)
        elseif lost < 0 and finds('jobsUncounted', 'of ' .. whose .. ': ' .. 0 - lost, max(0, min(0, told) - lost)) then
            call('HINCRBY', key, total, 0 - lost)
        end
        return lost
    end
    local all, lost, uses = {active = 0, parked = 0, delayed = 0, ready = 0}, 0, call('HGET', KEYS[2], 'priorities') or ''
    for number, is in pairs(there) do
        local batch = Counts.batchOf(queue, number)
        -- One that was cleared away has no counters, and one that was cancelled counts only what is in flight.
        if batch.state then
            if batch.isGone then is.parked, is.delayed, is.ready = 0, 0, 0 end
            local whose = 'batch ' .. number .. ' of ' .. what
            local missing = compare(Blocks.ofQueue(queue, 'batch:' .. number), whose, 'total', is, 0)
            lost = lost + missing
            -- Exchanges look only where there can be something.
            if not batch.isGone and not uses:find(batch.number, 1, true) and finds('counter', 'the priority of ' .. whose) then
                uses = uses .. batch.number
                call('HSET', KEYS[2], 'priorities', uses)
            end
            if missing > 0 and mends then Counts.endBatchWhereComplete(queue, number) end
            for part, value in pairs(is) do all[part] = all[part] + value end
        end
    end
    compare(KEYS[2], what, 'enqueued', all, lost)
    if #findings > 0 and mends then Counts.wake(queue, Counts.MOST_WOKEN) end
end

if part == 'keys' then checkKeys() elseif part == 'locks' then checkLocks() elseif part == 'hosts' then checkHosts() else checkCounts() end
Hosts.save()
Counts.save()
if hasMended then Clock.save() end
return {cursor, findings, queues}
