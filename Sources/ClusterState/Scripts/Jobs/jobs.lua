--@ clock blocks counts hosts locks selecting
-- Lists or counts jobs, a part at a time. Changes nothing.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 to 5 as selecting.lua says   6 whether only their number is asked for
--       7 to 11 where to go on, five numbers, all 0 at first: the priority, the place, the element in it, the job in that, and what tells
--       the place from another that has come there. The places of a priority are the ready blocks, and then the timers in their
--       order. Dead jobs have only elements; active ones have as places the incarnations that hold them, and as element a cursor.
-- Answer: {queue time, where to go on or an empty list, how many jobs, then for each: when it began, is due or was given up, or -1;
--         crashes, failures, the job, what was said of it}
local isCount = ARGV[6] == '1'
local priority, place, element, skip, mark = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local answer, number = {Clock.now, {}, 0}, 0

local function add(at, job, known, reason)
    number = number + 1
    if isCount then return end
    local last = #answer
    answer[last + 1], answer[last + 2], answer[last + 3] = at, known and known.crashes or 0, known and known.failures or 0
    answer[last + 4], answer[last + 5] = job, reason or ''
end

-- Answers whether there was room for all jobs of the block; otherwise `skip` tells how many were added.
local function addBlock(bytes, at, lock)
    local block = askedBlock(bytes)
    for i = 1, block and block.count or 0 do
        local job = Blocks.nextJob(block)
        if i > skip then
            if number == most then
                skip = i - 1
                return false
            end
            add(at, job, lock)
        end
    end
    skip = 0
    return true
end

-- Answers whether the place is done with.
local function addPlace(name, due)
    looks = looks - 1
    if sub(name, 1, 1) == 'd' then return state ~= 'delayed' or addBlock(sub(name, 10), tonumber(due)) end
    local key, isFollowers = listOf(priority, name)
    local elements = key and call('LRANGE', key, element, element + looks) or {}
    local asked, lock, at = looks + 1, nil, -1
    if isFollowers and #elements > 0 then
        lock = Locks.read(call('HGET', Locks.key, sub(name, 2)))
        if lock and lock.kind == 'W' and state == 'delayed' then at = lock.began end
    end
    for _, bytes in ipairs(elements) do
        -- Jobs that came back stand before all that follow.
        local is = isFollowers and Blocks.stateOf(bytes) or state
        if is ~= state and is == 'parked' then return true end
        if is == state and not addBlock(bytes, at, state ~= 'parked' and lock or nil) then return false end
        element, looks = element + 1, looks - 1
    end
    return #elements < asked
end

local function addWaiting()
    priority = max(1, priority)
    while priority <= #Blocks.PRIORITIES do
        if looks <= 0 or number == most then return {priority, place, element, skip, mark} end
        local timer = place == 0 and {'', 0} or call('ZRANGE', timersOf(priority), place - 1, place - 1, 'WITHSCORES')
        local known = timer[1] and tonumber(redis.sha1hex(timer[1]):sub(1, 8), 16) or 0
        if mark ~= known then element, skip, mark = 0, 0, known end
        if not timer[1] then
            priority, place = priority + 1, 0
        elseif addPlace(timer[1], timer[2]) then
            place, element, skip = place + 1, 0, 0
        end
    end
    return {}
end

local function addDead()
    local found = call('ZRANGE', Blocks.ofQueue(queue, 'dead'), element, element + looks - 1, 'REV', 'WITHSCORES')
    for i = 1, #found, 2 do
        if number == most then return {0, 0, element + (i - 1) / 2, 0, 0} end
        local block = askedDead(found[i])
        if block then add(tonumber(found[i + 1]), block.bytes, block, block.reason) end
    end
    return #found < 2 * looks and {} or {0, 0, element + looks, 0, 0}
end

-- What one incarnation holds, or a part of that; also jobs of a batch that was cancelled: they are in flight all the same.
local function addActive()
    local incarnation = call('ZRANGE', Locks.leases, place, place)[1]
    if not incarnation then return {} end
    local page = call('HSCAN', Locks.holderOf(incarnation), element, 'COUNT', looks)
    for i = 1, #page[2], 2 do
        local field, value = page[2][i], page[2][i + 1]
        local lock, job, at
        if #field == 16 then
            lock = Locks.read(call('HGET', Locks.key, field))
            local isHeld = lock and lock.kind == 'L' and lock.queue == queue and sub(lock.token, 9) == incarnation
            if isHeld then job, at = lock.job, lock.began end
        elseif #field == 17 and sub(field, 1, 1) == 'd' and sub(value, 2, 1 + byte(value)) == queue then
            -- A token's number is the time at which it was given, or a little more.
            job, at = sub(value, 2 + byte(value)), min(Clock.now, floor(unpackBytes('>I8', field, 2) / Clock.TOKENS_IN_MS))
        end
        local block = job and Blocks.read(job)
        if block and (onlyHost == '' or block.host == onlyHost) then add(at, job, lock) end
    end
    return page[1] == '0' and {0, place + 1, 0, 0, 0} or {0, place, tonumber(page[1]), 0, 0}
end

answer[2] = state == 'dead' and addDead() or state == 'active' and addActive() or addWaiting()
answer[3] = number
return answer
