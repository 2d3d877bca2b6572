-- Carries URLs on that have followers: jobs that came back, and those that wait for the same URL. A part of returns.lua, which runs it in
-- its place.

local function uncount(follower, batch)
    local state = Blocks.stateOf(follower)
    if state ~= 'ready' then Counts.count(batch, state, -1) end
end

-- There are no followers of the queue any more.
local function dropTimer(id)
    for _, name in ipairs(Blocks.PRIORITIES) do call('ZREM', Blocks.timersOf(queue, name), 'u' .. id) end
end

local function stopFollowing(id)
    dropTimer(id)
    Locks.unfollow(id, queue)
end

local function isPutOff(lock) return lock and Locks.has(lock, Locks.PUT_OFF_BY_HOST) end

-- Whether the worker holds nothing, and gets nothing in this call.
local function hasNothing()
    if ARGV[15] ~= '1' then return false end
    local meta = (before[1] and 1 or 0) + call('HEXISTS', holder, 'suspects')
    return Ask.count == 0 and call('HLEN', holder) == meta
end

-- The first follower whose batch is there, as it stands in the list and as it is read. Those before it are dropped. It is not read where
-- the call has no time to find it.
local function firstFollower(key)
    while true do
        local first = Lists.first(key)
        local job = first and Blocks.read(first)
        if not first or job and not Counts.batchOf(queue, job.batch).isGone then return first, job end
        call('LPOP', key)
        Ask.budget = Ask.budget - 1
        if Ask.budget <= 0 then return first, nil end
    end
end

-- Hands out followers to be delivered, as far as the outcome is one for them.
local function deliverFollowers(id, key, outcome)
    local done = 0
    for _, element in ipairs(call('LRANGE', key, 0, min(Ask.most - Ask.count, LARGEST_LOOK * 4) - 1)) do
        local job = Blocks.read(element)
        local batch = job and Counts.batchOf(queue, job.batch)
        if not job or not Locks.satisfies(outcome, job.enqueued, batch) then break end
        if not batch.isGone then
            uncount(element, batch)
            deliver(Blocks.flagged(element, 0), batch, outcome.bytes)
        end
        done = done + 1
    end
    call('LTRIM', key, done, -1)
    if Lists.isEmpty(key) then stopFollowing(id) end
end

-- Has the queue look at a URL at a time. It is done with where it was met.
local function lookAgain(url, at)
    call('ZADD', Ask.open[url.priority].timers, at, 'u' .. url.id)
    return true
end

local function standAside(url, host)
    Returns.putAside(url.priority, host, true, {url.id})
    return lookAgain(url, Hosts.putOffEnds(url.lock))
end

-- The worker begins with the first follower. The others follow it.
local function takeUp(url, host, isHopeless, reason, taker, weight)
    local id, lock, batch = url.id, url.lock or Locks.new(), url.batch
    call('LPOP', url.key)
    uncount(url.first, batch)
    begin(lock, Blocks.flagged(url.first, 0), isHopeless, reason)
    if not isHopeless then Hosts.enter(host, 1, url.met ~= 'aside' and taker) end
    Ask.suspects = Ask.suspects + weight
    Locks.noteSuspect(holder, weight)
    -- The worker gets nothing else.
    if weight >= Locks.ALONE then Ask.most, Ask.wanted, Ask.budget, Ask.isHeldBack = Ask.count + 1, Ask.count + 1, 0, true end
    if Lists.isEmpty(url.key) then
        dropTimer(id)
        Locks.forgetFollower(lock, queue)
    else
        Locks.noteFollower(id, lock, queue, url.priority)
        lookAgain(url, Locks.looksAt(lock))
    end
    give(id, '', Locks.write(id, lock), Locks.staleOf(url.bytes), batch)
    return true
end

-- The next attempt of a URL may begin, if its host has room and the worker may have it. Answers whether it is done with where it was met.
local function attempt(url)
    local priority, lock, met, host = url.priority, url.lock, url.met, Hosts.of(url.job.host)
    -- There is no request for a URL that is given up, or whose host is.
    local isHostless = Hosts.isHopeless(host)
    local isHopeless = isHostless or lock and (lock.crashes >= Locks.MOST_CRASHES or Hosts.putOffEnds(lock) <= now)
    -- A worker that has nothing else waits for the host like a queue of its own.
    local taker = met == LONE and ':' .. LONE or queue
    if not isHopeless and Hosts.roomFor(host, taker) <= 0 then
        if met == 'aside' then return false end
        if met == LONE and (Hosts.opensAt(host) == Hosts.NEVER or Hosts.opensAt(host) <= now) then
            Hosts.waitFor(host, taker)
            return false
        end
        return standAside(url, host)
    end
    local weight = lock and Locks.weightOf(lock) or 0
    local list = weight >= Locks.ALONE and LONE or weight > 0 and Ask.suspects + weight > Locks.MOST_SUSPECTS and SUSPECTS
    if list and not (list == LONE and hasNothing()) then
        if met == list then return false end
        call('RPUSH', asideOf(priority, list), url.id)
        call('ZADD', Ask.open[priority].timers, Hosts.BEHIND, 'h' .. list)
        if list == LONE then Ask.isMore = true end
        return lookAgain(url, '+inf')
    end
    if not isHopeless and met == 'timers' and host.probing > 0 and isPutOff(lock) and Returns.bringOther(priority, host) then
        -- Once all URLs that are due were looked at.
        Ask.open[priority].freed[host.name] = true
        return standAside(url, host)
    end
    return takeUp(url, host, isHopeless, isHostless and host.reason, taker, weight)
end

-- Carries a URL on that has followers. `met` tells where: among the timers, aside at its host, or in one of the lists of suspects. Answers
-- whether it is done with there.
local function carryOn(priority, id, met)
    -- The followers that stood here are gone. Followers that came since may have their one timer under another priority.
    if met ~= 'timers' and not call('ZSCORE', Ask.open[priority].timers, 'u' .. id) then return true end
    local key, lock, bytes = Blocks.followersOf(queue, id), Locks.get(id), call('GET', Locks.outcomeOf(id))
    local outcome, first, job = Locks.readOutcome(bytes), firstFollower(key)
    if not first then
        stopFollowing(id)
        return true
    end
    if not job then return false end
    local batch = Counts.batchOf(queue, job.batch)
    if outcome and Locks.satisfies(outcome, job.enqueued, batch) then
        deliverFollowers(id, key, outcome)
        return false
    end
    local url = {id = id, priority = priority, met = met, key = key, lock = lock, bytes = bytes, first = first, job = job, batch = batch}
    if not lock or lock.kind == 'W' and lock.began <= now then return attempt(url) end
    lookAgain(url, Locks.looksAt(lock))
    if lock.kind ~= 'W' then wait(id, lock, priority) end
    return true
end
