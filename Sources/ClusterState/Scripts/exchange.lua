--@ clock blocks counts hosts locks
--
-- One exchange between a process and a partition: its lease is extended, its outcomes are settled, and it gets jobs. First of all it
-- takes back a part of what dead processes held, so that there is no separate process for that whose own death would stop it.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'; a process without a queue has none, which is an empty name
-- ARGV  1 the incarnation   2 its number: the same again is the same exchange again, its answer having been lost   3 the lease, ms
--       4 how long a request may hold its URL, ms   5 how many jobs are wanted   6 how many more, to start soon   7 the channel on which
--       the worker hears, or nothing   8 how many requests a host may have in flight   9 ms between two starts at one host
--       10 a number from 0 to 1 for rests   11 for how long, ms, a host may take no connection before it is given up, 0 for ever
--       12 how many dead jobs are kept   13 how many outcomes   14 whether what the process holds is named
--       then the outcomes, then what it holds
-- Answer: {'ended'} for an incarnation whose lease has ended, or {'done', queue time, verdicts, how many it holds, what is left (0
--         jobs, 1 nothing, 2 only jobs of a newer version), whether to ask again at once, ms until the next visit or -1, whether the queue
--         is paused, each batch among these {number, name or nil, headers or nil, trace or nil, …}, then for each job two: its lock, and
--         an answer too old for it or nothing; or 'd' token length(1) queue job, and its outcome}
local Ask = {}
Ask.queue = KEYS[2]:sub(#tag + 3, -7)
Ask.incarnation, Ask.number, Ask.lease, Ask.longest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
Ask.wanted, Ask.channel, Ask.random, Ask.patience, Ask.mostDead = tonumber(ARGV[5]), ARGV[7], tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local FIRST, SWEEP = 15, 256
local sweeps = floor(Clock.turn / SWEEP)
Ask.most, Ask.outcomes = Ask.wanted + ARGV[6], tonumber(ARGV[13])
Hosts.limit, Hosts.interval = tonumber(ARGV[8]), tonumber(ARGV[9])

Ask.holder = Locks.holderOf(Ask.incarnation)
local before = call('HMGET', Ask.holder, 'last', 'suspect')
Ask.last, Ask.suspect = before[1], before[2]
local lastNumber = Ask.last and (unpackBytes('>I6', Ask.last)) or 0
local ends = call('ZSCORE', Locks.leases, Ask.incarnation)
-- A lease that has ended is never revived.
if (ends and tonumber(ends) <= Clock.lived) or (not ends and Ask.number > 1) then return {'ended'} end
if Ask.number < lastNumber then return redis.error_reply('STALE an exchange came after its successor') end
local settings = Ask.queue ~= '' and call('HMGET', KEYS[2], 'paused', 'priorities') or {}
Ask.isPaused = settings[1] == '1'
-- Redis does not roll a script back. What its keys hold is looked at now and then, not each time.
Counts.areKeysKnown = Ask.number % 64 ~= 1
if not Counts.areKeysKnown then
    call('HLEN', Locks.key)
    call('HLEN', tag .. 'hosts')
end

Clock.writeAlsoWhenFull()
if not ends then Clock.noteLease(Ask.lease) end
-- Not each of many calls a second has to be noted.
if not ends or tonumber(ends) - Clock.lived < Ask.lease * 0.95 then Locks.extend(Ask.incarnation, Ask.lease) end

Ask.answer = {'done', Clock.now, '', 0, 0, 0, -1, Ask.isPaused and 1 or 0, {}}
Ask.size, Ask.givenCount, Ask.isMore, Ask.freed, Ask.added, Ask.given = 9, 0, false, {}, {}, {}
-- Jobs with nothing to fetch come besides, as many again, within a bound for their outcomes.
Ask.besides, Ask.mostBesides = 524288, min(256, 2 * Ask.most)
Ask.extras = Locks.extrasOf(Ask.queue, '', {})
-- The priorities that were ever used in the queue.
Ask.open = {}
for priority in (settings[2] or ''):gmatch('%d') do
    local name = Blocks.PRIORITIES[tonumber(priority)]
    Ask.open[tonumber(priority)] = {
        number = tonumber(priority), key = Blocks.ofQueue(Ask.queue, 'ready:' .. name), timers = Blocks.ofQueue(Ask.queue, 'timers:' .. name),
    }
end

-- What a worker has to know of a batch is told once, however many of its jobs are handed out.
function Ask.tell(number, batch)
    if batch.isTold then return end
    batch.isTold = true
    local list = Ask.answer[9]
    local last = #list
    list[last + 1], list[last + 2], list[last + 3], list[last + 4] = number, batch.name, batch.headers, batch.trace
end

--@ settle handOut

-- The same exchange again: what it did is told again, as far as it still holds.
local function repeatAnswer()
    local size = unpackBytes('>I2', Ask.last, 7)
    Ask.answer[3] = sub(Ask.last, 9, 8 + size)
    local at = 9 + size
    while at <= #Ask.last do
        local length = byte(Ask.last, at)
        local field = sub(Ask.last, at + 1, at + length)
        local value, bytes, job = call('HGET', Ask.holder, field), nil, nil
        if value and length == 16 then
            bytes = call('HGET', Locks.key, field)
            job = bytes and sub(bytes, 1, 1) == 'L' and sub(bytes, 10, 17) == Ask.incarnation and Locks.read(bytes).job
        elseif value then
            bytes, job = field .. value, sub(value, 2 + byte(value))
        end
        if job then
            local outcome, number = call('GET', Locks.outcomeOf(Blocks.idOf(job))), unpackBytes('>I4', job, 2)
            Ask.answer[#Ask.answer + 1], Ask.answer[#Ask.answer + 2] = bytes, length == 16 and Locks.staleOf(outcome) or outcome or ''
            Ask.tell(number, Counts.batchOf(Ask.queue, number))
        end
        at = at + 1 + length
    end
end

if Ask.number == lastNumber then
    repeatAnswer()
    Ask.isMore = true
else
    if Ask.outcomes > 0 then Ask.answer[3] = settleAll(FIRST, Ask.outcomes) end
    if Ask.suspect and call('HEXISTS', Ask.holder, 'suspect') == 0 then Ask.suspect = nil end
    if ARGV[14] == '1' then
        local isKnown = {}
        for i = FIRST + Ask.outcomes, #ARGV do isKnown[ARGV[i]] = true end
        local held = call('HGETALL', Ask.holder)
        for i = 1, #held, 2 do
            if #held[i] >= 16 and not isKnown[held[i]] then Locks.takeBackField(held[i], held[i + 1], Ask.holder, Ask.incarnation, false) end
        end
    end
    if Locks.takeBackEnded() then Ask.isMore = true end
    if Ask.queue ~= '' and not Ask.isPaused and Ask.most > 0 then handOut() end
    local record = {pack('>I6I2', Ask.number, #Ask.answer[3]) .. Ask.answer[3]}
    for i, field in ipairs(Ask.given) do record[i + 1] = string.char(#field) .. field end
    call('HSET', Ask.holder, 'last', table.concat(record), unpack(Ask.added))
end

-- Only jobs that were handed out use up turns of their priorities: any other exchange goes round the whole wheel.
if Ask.givenCount == 0 then Clock.turn = Clock.turn + 10 end
-- A call that found nothing has the time for it.
local sweepsNow = floor(Clock.turn / SWEEP) ~= sweeps or (Ask.most > 0 and Ask.givenCount == 0)
local abandoned, from
if sweepsNow then abandoned, from = Hosts.forgetIdle() end
Hosts.save()
local ended = Counts.save()
if sweepsNow and Ask.queue ~= '' and Clock.use(Ask.queue, Clock.now) then Counts.forgetBatches(Ask.queue) end
if abandoned and abandoned ~= Ask.queue then
    -- What somebody else wrote into a queue's keys stops no worker of another queue.
    local isGood, isLeft = pcall(Locks.removeQueue, abandoned, 100)
    if isGood and isLeft then call('HSET', KEYS[1], 'sweep', from) end
end
Clock.save()

-- When this partition wants the next visit: a timer, a lease that may end, a host's turn.
local nextVisit = -1
local function visitAt(ms) if nextVisit < 0 or ms < nextVisit then nextVisit = max(0, ms) end end
local isFull = Ask.most > 0 and Ask.givenCount >= Ask.wanted
if Ask.queue ~= '' and not isFull then
    for _, line in pairs(Ask.isPaused and {} or Ask.open) do
        local first = call('ZRANGE', line.timers, '0', '1', 'WITHSCORES')
        -- Suspects wait for a worker that has none.
        local i = first[1] == 'h?' and Ask.suspect and 3 or 1
        if i == 3 then visitAt(1000) end
        if first[i] and first[i + 1] ~= 'inf' then visitAt(tonumber(first[i + 1]) - Clock.now) end
    end
    if Counts.openJobs(Ask.queue) <= 0 then
        Ask.answer[5] = 1
        if ended[Ask.queue] then
            Counts.forgetBatches(Ask.queue)
            Counts.wake(Ask.queue, Counts.MOST_WOKEN)
        end
    elseif Ask.givenCount == 0 and nextVisit < 0 and call('LLEN', Blocks.ofQueue(Ask.queue, 'aside:newer')) > 0 then
        local counts = call('HMGET', KEYS[2], 'active', 'parked', 'delayed')
        local waiting = (counts[1] or 0) + (counts[2] or 0) + (counts[3] or 0)
        for _, line in pairs(Ask.open) do waiting = waiting + call('LLEN', line.key) end
        if waiting == 0 then Ask.answer[5] = 2 end
    end
end
if not isFull then
    visitAt(max(min(Clock.firstEnd - Clock.lived, Clock.step), 1))
end
Ask.answer[4] = call('HLEN', Ask.holder) - 1 - (Ask.suspect and call('HEXISTS', Ask.holder, 'suspect') or 0)
Ask.answer[6], Ask.answer[7] = Ask.isMore and 1 or 0, nextVisit

for name, by in pairs(Locks.returned) do Counts.wake(name, by) end
for name in pairs(ended) do
    if name ~= Ask.queue and Counts.openJobs(name) <= 0 then Counts.wake(name, Counts.MOST_WOKEN) end
end
if Ask.channel ~= '' then
    -- A worker with places left hears of new jobs.
    if Ask.givenCount >= Ask.wanted then
        call('ZREM', Blocks.ofQueue(Ask.queue, 'idle'), Ask.channel)
    elseif not Ask.isMore then
        call('ZADD', Blocks.ofQueue(Ask.queue, 'idle'), 'NX', Clock.now, Ask.channel)
    end
end
return Ask.answer
