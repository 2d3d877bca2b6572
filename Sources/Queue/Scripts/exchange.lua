--@ clock lists blocks counts hosts locks
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
--       15 whether the process has nothing in other partitions, and gets nothing there   16 how many requests a host may leave without an
--       answer before it is given up, if it has not answered lately, 0 for any number   17 how many requests a host has
--       in flight before it answers   18 for how long, ms, a host may ask for rests, and a URL be put off, before they are given up, 0 for
--       ever   19 since when, in queue time, the process works there; nothing in its first call
--       then the outcomes, then what it holds
-- Answer: {'ended'} for an incarnation whose lease has ended, or {'done', queue time, verdicts, how many it holds, what is left (0
--         jobs, 1 nothing, 2 jobs that are missing: they are counted, and nothing leads to them), whether to ask again at once, ms until
--         the next visit or -1, 1 where the queue is paused or 2 where the process takes no more jobs until it has nothing, each batch
--         among these {number, name or nil, headers or nil, trace or nil, manners or nil, what it keeps or nil, …}, then for each job
--         two: its lock, and an answer too old for it or nothing; or 'd' token length(1) queue job, and its outcome}
local OPTIONS, SWEEP = 19, 256
-- Redis searches a small hash from its beginning, unless a value in it is longer than 64 bytes.
local PADDING = 'This text makes the hash of what a process holds a table to Redis.'
local queue, prefix, incarnation, number, lease = sub(KEYS[2], #tag + 3, -7), sub(KEYS[2], 1, -6), ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local holder, now, outcomes = tag .. 'holder:' .. incarnation, Clock.now, tonumber(ARGV[13])
local before, ends = call('HMGET', holder, 'last', 'suspects'), call('ZSCORE', Locks.leases, incarnation)
local lastNumber = before[1] and #before[1] > 5 and unpackBytes('>I6', before[1]) or 0
ends = ends and tonumber(ends)
-- A lease that has ended is never revived.
if ends and ends <= Clock.lived or not ends and number > 1 then return {'ended'} end
if number < lastNumber then return redis.error_reply('STALE an exchange came after its successor') end
local settings = queue ~= '' and call('HMGET', KEYS[2], 'paused', 'priorities', 'turn', 'enqueued', 'done', 'failed', 'cancelled') or {}
-- Without these nobody knows when the queue has ended.
if areDamaged({unpack(settings, 4, 7)}) then return damaged(KEYS[2]) end
local isPaused, uses, turn = settings[1] == '1', string.gsub(settings[2] or '', '[^123]', ''), numberOf(settings[3])
-- Redis does not roll a script back. What its keys hold is looked at now and then, not each time.
Counts.areKeysKnown = number % 64 ~= 1
if not Counts.areKeysKnown then
    call('HLEN', Locks.key)
    call('HLEN', tag .. 'hosts')
end

-- See Clock.writeAlsoWhenFull.
call('DEL', tag .. 'none')
if not ends then Clock.noteLease(lease) end
-- Not each of many calls a second has to be noted.
if not ends or ends - Clock.lived < lease * 0.95 then Locks.extend(incarnation, lease) end

-- What the rarer functions share with the rest. `count` is how many jobs are handed out: each is two fields of the answer and of `added`.
local Ask = {
    answer = {'done', now, '', 0, 0, 0, -1, isPaused and 1 or 0, {}}, added = {}, count = 0, wanted = tonumber(ARGV[5]), isMore = false,
    suspects = numberOf(before[2]), open = {}, budget = 1000,
}
Ask.most = Ask.wanted + ARGV[6]
if ARGV[9] ~= '0' then Hosts.interval = tonumber(ARGV[9]) end
Hosts.limit, Hosts.first, Hosts.patience, Hosts.restPatience = tonumber(ARGV[8]), tonumber(ARGV[17]), tonumber(ARGV[11]), tonumber(ARGV[18])
Hosts.began = tonumber(ARGV[19]) or now
-- The priorities that were ever used in the queue.
for i = 1, #uses do
    local priority = byte(uses, i) - 48
    local name = Blocks.PRIORITIES[priority]
    Ask.open[priority] = {name = name, ready = prefix .. 'ready:' .. name, timers = prefix .. 'timers:' .. name, isReady = true, freed = {}}
    if not Counts.areKeysKnown then
        Lists.check(Ask.open[priority].ready)
        call('LLEN', prefix .. 'aside:' .. name .. ':?')
        call('LLEN', prefix .. 'aside:' .. name .. ':!')
    end
end
-- Counts, flags and names in the lock of a URL that nobody else waits for, in its first attempt.
local usual = '\0\0\0\0\0\0\0\0\0' .. pack('>I2B', 3 + #queue, #queue) .. queue .. '\0\0'
local sweeps, tokens = floor(Clock.turn / SWEEP), Clock.tokens

-- A place of the host may be free. Where this queue is the first that waits, what stands aside there is served in this very call.
function Ask.lookAt(host)
    if host.waiting[1] ~= queue then return end
    for _, line in pairs(Ask.open) do
        line.isDue, line.freed[host.name] = true, true
    end
end

-- Counts jobs that are handed out. What a worker has to know of their batch is told once.
local function tell(batch, jobs)
    batch.counts.active = (batch.counts.active or 0) + jobs
    if batch.isTold then return end
    local told = Ask.answer[9]
    local last = #told
    told[last + 1], told[last + 2], told[last + 3], told[last + 4], told[last + 5], told[last + 6] =
        batch.index, batch.name, batch.headers, batch.trace, batch.manners, batch.keeps
    batch.isTold = true
end

--@ ends returns
if number == lastNumber then
    Returns.answerAgain(before[1])
else
    --@ settle
    if Ask.suspects > 0 then Ask.suspects = numberOf(call('HGET', holder, 'suspects')) end
    if Ask.suspects > 0 and Ask.suspects >= Locks.ALONE then Ask.most, Ask.wanted, Ask.isHeldBack = 0, 0, true end
    if ARGV[14] == '1' then Returns.takeBackUnknown() end
    if Clock.firstEnd <= Clock.lived and Locks.takeBackEnded() then Ask.isMore = true end
    for _, host in pairs(Hosts.changedOnes) do Ask.lookAt(host) end
    --@ handOut
    if Ask.count > 0 and #uses > 1 then call('HSET', KEYS[2], 'turn', (turn + Ask.count) % 10) end
    call('HSET', holder, 'last', pack('>I6I8', number, tokens) .. PADDING .. Ask.answer[3], unpack(Ask.added))
end

Clock.turn = Clock.turn + (Ask.count > 0 and Ask.count or 10)
-- A call that found nothing and brought nothing has the time for it.
local sweepsNow = floor(Clock.turn / SWEEP) ~= sweeps or (Ask.most > 0 and Ask.count == 0 and outcomes == 0)
local abandoned, from
if sweepsNow then abandoned, from = Hosts.forgetIdle() end
Hosts.save()
local ended = Counts.save()
if sweepsNow and queue ~= '' and Clock.use(queue, now) then Counts.forgetBatches(queue) end
if abandoned and abandoned ~= queue then
    -- What somebody else wrote into a queue's keys stops no worker of another queue.
    local isGood, isLeft = pcall(Locks.removeQueue, abandoned, 100)
    if isGood and isLeft then call('HSET', KEYS[1], 'sweep', from) end
end
Clock.save()

-- A worker with places left has to know when the partition wants the next visit: a timer, a lease that may end, a host's turn.
if Ask.most == 0 or Ask.count < Ask.wanted then
    -- After a gap lease time stands still for some time.
    local untilEnd = max(0, Clock.still - Clock.wall) + Clock.firstEnd - Clock.lived
    local nextVisit = max(min(untilEnd, Clock.step), 1)
    if queue ~= '' then nextVisit = Returns.nextVisit(nextVisit, ended) end
    Ask.answer[7] = nextVisit
end
Ask.answer[4] = call('HLEN', holder) - 1 - (Ask.suspects > 0 and call('HEXISTS', holder, 'suspects') or 0)
if Ask.isMore then Ask.answer[6] = 1 end
if Ask.isHeldBack then Ask.answer[8] = 2 end

for name, by in pairs(Locks.returned) do Counts.wake(name, by) end
for name in pairs(ended) do
    if name ~= queue and Counts.openJobs(name) <= 0 then Counts.wake(name, Counts.MOST_WOKEN) end
end
if ARGV[7] ~= '' then
    -- A worker with places left hears of new jobs.
    if Ask.count >= Ask.wanted then
        call('ZREM', prefix .. 'idle', ARGV[7])
    elseif not Ask.isMore then
        call('ZADD', prefix .. 'idle', 'NX', now, ARGV[7])
    end
end
return Ask.answer
