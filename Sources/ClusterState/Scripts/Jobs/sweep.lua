--@ clock blocks counts hosts locks selecting
-- Deletes jobs, makes delayed ones due now, or puts dead ones back as if they came now: some places of a priority in a call, or a part of
-- the dead. A deleted job that waited ends as cancelled. One that is put back counts as failed no longer, and what was kept of its URL's
-- failure is forgotten: it would be its outcome at once. One whose batch was cancelled, or is not remembered, stays dead.
--
-- Lists are gone through from their ends on: claims take from the heads, so what was looked at is not met again, and what was not is not
-- missed. What is left of a block stays in its place, and where nothing is left, a tombstone does.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 to 5 as selecting.lua says   6 'retry' or 'delete'   7 only jobs enqueued, or given up, until then   8 the priority
--       9 how many elements of the first place, counted from its head, are still to be looked at, or -1 for all; where to go on among
--       the dead   10 … the places: nothing for the ready blocks, or members of the priority's timers
-- Answer: {how many jobs, how many could not be put back, how many places are done with, 9 for the next call}
local deletes, latest, priority, position = ARGV[6] == 'delete', tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local FIRST, MOST_STEPS = 10, 5000000
local number, stuck, steps, changes = 0, 0, 0, {}

-- What is written follows what is read.
local function change(...) changes[#changes + 1] = {...} end

-- The first jobs of a block, as many.
local function firstOf(block, number)
    local copy = Blocks.read(block.bytes)
    if number == 1 then return (Blocks.nextJob(copy)) end
    for _ = 1, number do Blocks.nextJob(copy) end
    return sub(block.bytes, 1, block.at - 2) .. string.char(number) .. sub(block.bytes, block.at, copy.at - 1)
end

-- Deletes jobs from the end of a block, as many as may be. Answers how many are left.
local function cancel(block, counted)
    local gone = min(block.count, most - number)
    number = number + gone
    Counts.count(queue, block.batch, 'cancelled', gone)
    if counted ~= 'ready' then Counts.count(queue, block.batch, counted, 0 - gone) end
    return block.count - gone
end

-- Answers how many elements are left to look at.
local function deleteFrom(key, isFollowers)
    local length = call('LLEN', key)
    local to = position < 0 and length or min(position, length)
    local from, isTail, tail = max(0, to - looks), to == length, 0
    local elements, left = to > 0 and call('LRANGE', key, from, to - 1) or {}, from
    looks = looks - #elements
    for i = #elements, 1, -1 do
        local element, at = elements[i], from + i - 1
        local block = (not isFollowers or Blocks.stateOf(element) == state) and askedBlock(element)
        local isAsked = block and block.enqueued <= latest
        if isAsked then
            if number == most or steps > MOST_STEPS then
                left = at + 1
                break
            end
            local rest = cancel(block, state)
            element = rest == 0 and Blocks.GONE or firstOf(block, rest)
        end
        isTail = isTail and element == Blocks.GONE
        if isTail then
            tail = tail + 1
        elseif isAsked then
            -- As many as Redis goes over to find the place.
            steps = steps + min(at, length - at)
            change('LSET', key, at, element)
        end
    end
    if tail > 0 then change('LTRIM', key, 0, -1 - tail) end
    return left
end

-- The next attempt of a URL is due now, for all queues that follow it.
local function makeDue(id)
    local key = Blocks.followersOf(queue, id)
    local first = call('LINDEX', key, 0)
    if not first or Blocks.stateOf(first) ~= 'delayed' or not askedBlock(first) then return end
    local lock = Locks.read(call('HGET', Locks.key, id))
    if not lock or lock.kind ~= 'W' or lock.began <= Clock.now then return end
    number = number + 1
    lock.began = Clock.now
    change('lock', id, lock)
end

-- Answers whether the place is done with.
local function sweepPlace(place)
    local kind = sub(place, 1, 1)
    if kind == 'd' then
        local block = state == 'delayed' and askedBlock(sub(place, 10))
        if not block or block.enqueued > latest then return true end
        if number == most then return false end
        local timers, at, rest = timersOf(priority), call('ZSCORE', timersOf(priority), place), nil
        if not at or (not deletes and tonumber(at) <= Clock.now) then return true end
        if deletes then
            rest = cancel(block, state)
        else
            rest = max(0, block.count - (most - number))
            number = number + block.count - rest
        end
        change('ZREM', timers, place)
        if rest > 0 then change('ZADD', timers, at, sub(place, 1, 9) .. firstOf(block, rest)) end
        if not deletes then
            for _ = 1, rest do Blocks.nextJob(block) end
            change('ZADD', timers, Clock.now, sub(place, 1, 9) .. Blocks.restOf(block))
        end
        return rest == 0
    end
    local key, isFollowers = listOf(priority, place)
    if not key then return true end
    if not deletes then
        if isFollowers then makeDue(sub(place, 2)) end
        return true
    end
    position = deleteFrom(key, isFollowers)
    if position == 0 then change('list', place, key) end
    return position == 0
end

local function sweepPlaces()
    local done = 0
    for i = FIRST, #ARGV do
        if looks <= 0 or number == most or not sweepPlace(ARGV[i]) then break end
        done, position, looks = done + 1, -1, looks - 1
    end
    return done
end

local function sweepDead()
    local dead, reopened = Blocks.ofQueue(queue, 'dead'), {}
    local page = call('ZSCAN', dead, position, 'COUNT', looks)
    for i = 1, #page[2], 2 do
        local block = number < most and tonumber(page[2][i + 1]) <= latest and askedDead(page[2][i])
        local batch = block and Counts.batchOf(queue, block.batch)
        if block and not deletes and batch.isGone then
            stuck = stuck + 1
        elseif block then
            number = number + 1
            change('ZREM', dead, page[2][i])
            if not deletes then
                local bytes, id = block.bytes, Blocks.idOf(block.bytes)
                local outcome = Locks.readOutcome(call('GET', Locks.outcomeOf(id)))
                if outcome and outcome.isNegative then change('DEL', Locks.outcomeOf(id)) end
                bytes = sub(bytes, 1, 5) .. pack('>I5', Clock.now - Blocks.EPOCH) .. sub(bytes, 11)
                change('RPUSH', Blocks.ofQueue(queue, 'ready:' .. batch.priority), bytes)
                Counts.count(queue, block.batch, 'failed', -1)
                if not reopened[block.batch] then change('batch', block.batch) end
                reopened[block.batch] = true
            end
        end
    end
    position = tonumber(page[1])
    return 0
end

local write = {}

-- The one command here that not every user may call. In a line of its own: a refusal tells the line, and the line the command.
function write.LSET(...) call('LSET', ...) end

function write.lock(id, lock)
    Locks.write(id, lock)
    Locks.release(id, lock)
end

-- A list with nothing left is no place any more.
function write.list(place, key)
    if place == '' or call('EXISTS', key) == 1 then return end
    call('ZREM', timersOf(priority), place)
    if sub(place, 1, 1) == 'u' then Locks.unfollow(sub(place, 2), queue) end
end

-- A batch that had ended is under way again.
function write.batch(number)
    if call('HDEL', Blocks.ofQueue(queue, 'batch:' .. number), 'ended') == 0 then return end
    call('HINCRBY', KEYS[2], 'kept', -1)
    call('HINCRBY', KEYS[2], 'keptIds', 0 - call('LLEN', Blocks.ofQueue(queue, 'finished:' .. number)))
end

call('HLEN', Locks.key)
local done = (state == 'dead' and sweepDead or sweepPlaces)()
if #changes > 0 then
    Clock.writeAlsoWhenFull()
    Clock.use(queue, Clock.now)
end
for _, one in ipairs(changes) do
    if write[one[1]] then write[one[1]](unpack(one, 2)) else call(unpack(one)) end
end
local ended = Counts.save()
if #changes > 0 then Clock.save() end
if number > 0 and not deletes then Counts.wake(queue, number) end
for name in pairs(ended) do
    if Counts.openJobs(name) <= 0 then Counts.wake(name, Counts.MOST_WOKEN) end
end
return {number, stuck, done, position}
