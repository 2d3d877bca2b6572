-- Who waits for a URL, and what comes back of what a process had. A part of locks.lua, which runs it in its place.
-- Each list of followers has its timer.

-- A queue's followers of a URL are looked at again at a time. `priority` is a number, as a character.
function Locks.setTimer(queue, priority, id, at, when)
    local key = Blocks.timersOf(queue, Blocks.PRIORITIES[tonumber(priority)])
    if when then call('ZADD', key, when, at, 'u' .. id) else call('ZADD', key, at, 'u' .. id) end
end

-- When followers of a URL look at it, if nobody wakes them before: at its next attempt, or after its holder's deadline. Lease time may
-- have stood still until then, and so they may have to look again.
function Locks.looksAt(lock) return lock.kind == 'W' and lock.began or Clock.now + max(0, lock.deadline - Clock.lived) end

-- The priority under which a queue's followers of a URL have their timer: there is one for all of them.
function Locks.timerOf(queue, id, usual)
    for priority, name in ipairs(Blocks.PRIORITIES) do
        if call('ZSCORE', Blocks.timersOf(queue, name), 'u' .. id) then return tostring(priority) end
    end
    return tostring(usual)
end

-- Notes that a queue has followers of a URL, and sets their timer. Where too many queues are noted, this one looks again in a second.
-- Answers whether the lock has changed.
function Locks.noteFollower(id, lock, queue, usual)
    for _, one in ipairs(lock.interested) do
        if one.queue == queue then
            Locks.setTimer(queue, one.priority, id, Locks.looksAt(lock), 'NX')
            return false
        end
    end
    local priority, isNoted = Locks.timerOf(queue, id, usual), #lock.interested < Locks.MOST_INTERESTED
    if isNoted then lock.interested[#lock.interested + 1] = {queue = queue, priority = priority} end
    Locks.setTimer(queue, priority, id, isNoted and Locks.looksAt(lock) or Clock.now + 1000)
    return isNoted
end

-- A lock forgets that a queue has followers. Answers whether it knew.
function Locks.forgetFollower(lock, queue)
    for i, one in ipairs(lock.interested) do
        if one.queue == queue then return table.remove(lock.interested, i) end
    end
end

-- A queue has no followers of a URL any more. The next attempt of a URL that nobody follows is not made.
function Locks.unfollow(id, queue)
    local lock = Locks.get(id)
    local isChanged = lock and Locks.forgetFollower(lock, queue)
    if lock and lock.kind == 'W' and not lock.interested[1] then
        call('HDEL', Locks.key, id)
    elseif isChanged then
        Locks.write(id, lock)
    end
end

local function noteReturned(queue) Locks.returned[queue] = (Locks.returned[queue] or 0) + 1 end

-- Tells all who wait for a URL that they may look at it, queues at a time.
function Locks.release(id, lock, at)
    for _, one in ipairs(lock.interested) do
        if one.channel then
            publish(one.channel, 'u' .. id)
        else
            Locks.setTimer(one.queue, one.priority, id, at)
            if at <= Clock.now then noteReturned(one.queue) end
        end
    end
end

-- A job comes back: it is the first of its URL's followers, or ends with its batch. `flag` tells how it is counted until it goes on.
-- Answers its batch.
local function followFirst(queue, id, job, flag)
    local batch = Counts.batchOfJob(queue, job)
    Counts.count(batch, 'active', -1)
    if batch.isGone then
        Counts.finish(batch, id, 'cancelled')
    else
        call('LPUSH', Blocks.followersOf(queue, id), Blocks.flagged(job, flag))
        if flag == Blocks.RETRY_FLAG then Counts.count(batch, 'delayed', 1) end
    end
    return batch
end

-- A lock's job comes back, and the URL keeps its counts. `at` is when its next attempt may begin.
function Locks.comeBack(id, lock, at, flag)
    if lock.kind == 'L' then
        local queue, batch = lock.queue, followFirst(lock.queue, id, lock.job, flag)
        -- Jobs that came back before this one began may follow the URL, and are not noted yet. The URL keeps its counts for them.
        local isFollowed = not batch.isGone or not Lists.isEmpty(Blocks.followersOf(queue, id))
        if isFollowed then Locks.noteFollower(id, lock, queue, batch.number) end
    end
    Locks.release(id, lock, at)
    for i = #lock.interested, 1, -1 do
        if lock.interested[i].channel then table.remove(lock.interested, i) end
    end
    if not lock.interested[1] then
        call('HDEL', Locks.key, id)
        return
    end
    lock.kind, lock.began, lock.deadline, lock.queue, lock.job = 'W', at, 0, '', ''
    Locks.set(lock, Locks.MOVED, false)
    Locks.set(lock, Locks.NO_PLACE, false)
    Locks.write(id, lock)
end

-- A request's place at its host is free, wherever a redirect has led it. Answers the host, or nil where the request has no place.
function Locks.leavePlace(id, lock, holder)
    if lock.kind ~= 'L' or Locks.has(lock, Locks.NO_PLACE) then return nil end
    local name = Blocks.hostOf(lock.job)
    if Locks.has(lock, Locks.MOVED) then
        name = call('HGET', holder, 'p' .. id)
        if not name then return nil end
        call('HDEL', holder, 'p' .. id)
    end
    return Hosts.leave(name)
end

-- What a job weighs among its worker's suspects, which may weigh eight. A URL that two workers died with is alone in its worker. One
-- that three died with is not fetched.
function Locks.weightOf(lock)
    if not Locks.has(lock, Locks.SUSPECT) or lock.crashes >= Locks.MOST_CRASHES then return 0 end
    return lock.crashes > 1 and Locks.ALONE or 1
end

-- A worker has begun with a suspect, or is done with one.
function Locks.noteSuspect(holder, weight)
    if weight ~= 0 and call('HINCRBY', holder, 'suspects', weight) <= 0 then call('HDEL', holder, 'suspects') end
end

-- Takes one URL back from an incarnation. Where that is dead it is charged a crash: nobody knows which URL killed it. Answers the host
-- where that freed a place.
function Locks.takeBackLock(id, holder, incarnation, isDead)
    local lock = Locks.get(id)
    call('HDEL', holder, id)
    if not lock or lock.kind == 'W' or sub(lock.token, 9) ~= incarnation then return end
    local host = Locks.leavePlace(id, lock, holder)
    if lock.kind == 'L' and isDead then
        lock.crashes = min(255, lock.crashes + 1)
        Locks.set(lock, Locks.SUSPECT, true)
        -- A queue that was purged meanwhile counts nothing of what was in flight.
        if Counts.batchOfJob(lock.queue, lock.job).state then Counts.countTotal(lock.queue, 'crashed', 1) end
    elseif lock.kind == 'L' then
        Locks.noteSuspect(holder, 0 - Locks.weightOf(lock))
    end
    Locks.comeBack(id, lock, Clock.now, Blocks.BACK_FLAG)
    return host
end

-- A job that was only to be delivered waits for a worker again.
function Locks.takeBackDelivery(field, holder, queue, job)
    call('HDEL', holder, field)
    if not Blocks.isSound(job) then return end
    local id = Blocks.idOf(job)
    local batch = followFirst(queue, id, job, Blocks.BACK_FLAG)
    if batch.isGone then return end
    Locks.setTimer(queue, Locks.timerOf(queue, id, batch.number), id, Clock.now)
    noteReturned(queue)
end

function Locks.takeBackField(field, value, holder, incarnation, isDead)
    local kind = sub(field, 1, 1)
    if #field == 16 then
        Locks.takeBackLock(field, holder, incarnation, isDead)
    elseif #field == 17 and kind == 'd' then
        local length = byte(value) or 0
        Locks.takeBackDelivery(field, holder, sub(value, 2, 1 + length), sub(value, 2 + length))
    elseif #field == 17 and kind == 'p' then
        -- A place for a URL of elsewhere; one of this partition goes with its lock.
        if call('HDEL', holder, field) == 1 then Hosts.leave(value) end
    end
end

local MOST_TAKEN, ENDED_KEPT = 100, 3600000

-- Takes back a part of what an incarnation holds. Answers how many fields it looked at.
function Locks.takeBackFrom(incarnation, isDead)
    local holder, taken = Locks.holderOf(incarnation), 0
    -- Two more, for its last exchange and its suspects' weight.
    local found = call('HRANDFIELD', holder, MOST_TAKEN + 2, 'WITHVALUES')
    for i = 1, #found, 2 do
        if #found[i] >= 16 and taken < MOST_TAKEN then
            taken = taken + 1
            Locks.takeBackField(found[i], found[i + 1], holder, incarnation, isDead)
        end
    end
    if taken < MOST_TAKEN then
        call('UNLINK', holder)
        call('ZADD', Locks.leases, string.format('%.0f', 0 - max(1, Clock.lived)), incarnation)
        local oldest = call('ZRANGE', Locks.leases, '(0', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 2, 'WITHSCORES')
        for i = 1, #oldest, 2 do
            if Clock.lived + oldest[i + 1] > ENDED_KEPT then call('ZREM', Locks.leases, oldest[i]) end
        end
    end
    return taken
end

-- Every caller takes back a part of what dead processes held. No lease ends before 'firstEnd'. Answers whether a lease had ended.
function Locks.takeBackEnded()
    if Clock.firstEnd > Clock.lived then return false end
    local ended = call('ZRANGE', Locks.leases, '(0', Clock.lived, 'BYSCORE', 'LIMIT', 0, 2)
    for _, incarnation in ipairs(ended) do Locks.takeBackFrom(incarnation, true) end
    local first = call('ZRANGE', Locks.leases, '(0', '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    Clock.firstEnd = first and tonumber(first) or Clock.lived + Clock.step
    return #ended > 0
end

-- Removes a part of what a queue has. What is in flight of it counts for nothing when it ends. Answers whether something is left.
function Locks.removeQueue(queue, most)
    local isLeft, index = false, Blocks.ofQueue(queue, 'batches')
    for _, priority in ipairs(Blocks.PRIORITIES) do
        local timers = Blocks.timersOf(queue, priority)
        local members = call('ZRANGE', timers, 0, most - 1)
        for _, member in ipairs(members) do
            local list, kind = Blocks.listOf(queue, priority, member)
            if list then Lists.drop(list) end
            if kind == 'u' then Locks.unfollow(sub(member, 2), queue) end
        end
        if members[1] then call('ZREM', timers, unpack(members)) end
        isLeft = isLeft or #members == most
        for _, name in ipairs({'ready:' .. priority, 'aside:' .. priority .. ':?', 'aside:' .. priority .. ':!'}) do
            Lists.drop(Blocks.ofQueue(queue, name))
        end
    end
    local found = call('ZRANGE', index, 0, most - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
        call('UNLINK', Blocks.ofQueue(queue, 'batch:' .. found[i + 1]))
        Lists.drop(Blocks.ofQueue(queue, 'finished:' .. found[i + 1]))
        call('ZREM', index, found[i])
    end
    if isLeft or #found == 2 * most then return true end
    for _, name in ipairs({'queue', 'dead', 'idle'}) do call('UNLINK', Blocks.ofQueue(queue, name)) end
    call('HDEL', KEYS[1], 'queue:' .. queue)
    call('HDEL', tag .. 'hosts', '?' .. queue)
    return false
end
