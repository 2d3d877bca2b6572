-- Leases jobs to a worker. What it is made of lies in Claim/; here is its course.
--
-- First it does, within a bound, what is nobody's in particular: it takes back what dead workers held, and takes on the followers of
-- flights that have ended. Any live worker thus mends what another left; there is no separate process whose own death would stop that.
-- Then it serves, by turns, retries and delayed jobs that are due, jobs held for hosts that have room again, and the lines. A job
-- whose page is there ends here and now, or is handed out to be delivered; one whose URL is locked is parked; one whose host has
-- no room is held; any other is leased, its URL locked and its host's place taken in the same step.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 how many jobs   2 the lease, ms   3 eight random bytes; the same again is the same claim again, its answer having been lost
--       4 the worker   5 the channel on which it hears, or nothing   6 how many requests a host may have in flight
--       7 ms between two starts at one host   8 how many dead jobs are kept
--       9 the page of a URL that killed its workers, without the URL   10 how long that is kept, ms
--       11 what is said of a URL whose host is given up, without the URL
-- Answer: {queue time, what is left (0 jobs, 1 nothing, 2 only jobs of a newer version), whether to ask again at once, ms until
--          something falls due or -1, jobs failed here, whether the queue is paused, each batch among these
--          {number, name or nil, the headers of its requests or nil, its trace or nil, …}, then for each job: token, job,
--          the page of one that is only delivered, a page too old for one that is fetched, or nothing}
local function isRepeated()
    if not lastClaim or lastClaim:sub(1, 8) ~= nonce then return false end
    local first, number = unpackBytes('>I8I2', lastClaim, 9)
    local names = {}
    for i = first + 1, first + number do names[#names + 1] = pack('>I8', i) .. nonce end
    for i, flight in ipairs(#names > 0 and call('HMGET', leases, unpack(names)) or {}) do
        -- What has ended since, or waits for another attempt, is the worker's no more; nor is there anything to deliver without a page.
        local kind = flight and isLive(names[i]) and flight:sub(1, 1)
        local job = (kind == 'C' or kind == 'J') and read(flight, 8)
        local page = job and call('GET', pageOf(job.id))
        if kind == 'J' then
            give(names[i], job, flight:sub(8), '', staleOf(page))
        elseif page then
            give(names[i], job, flight:sub(8), page, '')
        elseif kind == 'C' and isGivenUp(hostOf(job.host)) then
            give(names[i], job, flight:sub(8), givenUpPage(names[i], job), '')
        end
    end
    return true
end

local function attempt(phase)
    if trouble then return end
    local isFine, problem = pcall(phase)
    if not isFine then trouble = problem end
end

local tokensAtFirst
if wanted > 0 and isRepeated() then
    isMore = true
else
    if lease ~= shortest and (shortest == 0 or lease < shortest or call('ZCARD', expiry) == 0) then shortest = lease end
    attempt(takeBackEnded)
    attempt(takeOnFreed)
    tokensAtFirst = tokens
    -- What came back stands at the head of its line, and hosts have room again.
    if hasWritten then attempt(lookAtLines) end
    if not isPaused and wanted > 0 then
        attempt(serveLater)
        attempt(serveByTurns)
        if givenCount == 0 then attempt(takeOnForeign) end
    end
end

-- Followers that are still to be taken on may be what the caller is looking for.
if not isPaused and givenCount < wanted and (freedNow > 0 or chains > chainsBefore) and call('LLEN', namespace .. 'freed') > 0 then isMore = true end

local ended = {}
if hasWritten then
    if floor(turn / JOBS_TO_SWEEP) > floor(turnBefore / JOBS_TO_SWEEP) then forgetIdleHosts() end
    saveHosts()
    ended = saveCounts()
    if givenCount > 0 then
        call('SET', workerKey, nonce .. pack('>I8I2', tokensAtFirst, tokens - tokensAtFirst), 'PX', DAY)
    end
end
-- What was begun is whole, and what was handed out is answered; what is wrong with a key shows in the next claim.
if trouble and givenCount == 0 then
    if hasWritten then saveClock() end
    return type(trouble) == 'table' and trouble or redis.error_reply(tostring(trouble))
end

local isFull = wanted > 0 and givenCount == wanted
local first = not isFull and call('ZRANGE', expiry, 0, 0, 'WITHSCORES')[2]
-- Lease time goes on only while somebody calls: a worker with nothing to do must look now and then.
if hasWritten or first then
    writing()
    saveClock()
end

-- A worker that got all it asked for has no time to wait, nor any use for what is left.
local next, left = -1, 0
local function nextAt(ms) if next < 0 or ms < next then next = max(0, ms) end end
if not isFull then
    if first then nextAt(min(tonumber(first) - lived, floor(shortest / 3), LONGEST_STEP)) end
    local due = not isPaused and call('ZRANGE', later, 0, 0, 'WITHSCORES')[2]
    if due then nextAt(due - now) end
    for priority, name in ipairs(PRIORITIES) do
        local host = not isPaused and open[priority].isUsed and call('ZRANGE', ofQueue(queue, 'due:' .. name), 0, 0, 'WITHSCORES')[2]
        if host and host ~= NEVER then nextAt(host - now) end
    end
    if openJobs(queue) <= 0 then
        left = 1
    elseif givenCount == 0 and call('LLEN', foreign) > 0 then
        local counts = call('HMGET', KEYS[2], 'active', 'parked', 'delayed')
        local waiting = call('ZCARD', later) + (counts[1] or 0) + (counts[2] or 0)
        for _, name in ipairs(PRIORITIES) do
            waiting = waiting + call('LLEN', ofQueue(queue, 'ready:' .. name)) + call('ZCARD', ofQueue(queue, 'due:' .. name))
        end
        if waiting == 0 then left = 2 end
    end
end

for name, number in pairs(returned) do wake(name, number) end
for name in pairs(ended) do
    if openJobs(name) <= 0 then wake(name, MOST_WOKEN) end
end
if channel ~= '' then
    if givenCount > 0 then
        call('ZREM', ofQueue(queue, 'idle'), channel)
    elseif not isMore then
        writing()
        call('ZADD', ofQueue(queue, 'idle'), 'NX', now, channel)
    end
end

answer[1], answer[2], answer[3], answer[4] = now, left, isMore and 1 or 0, next
answer[5], answer[6] = failedHere, isPaused and 1 or 0
return answer
