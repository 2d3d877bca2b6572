-- What few exchanges do: begin with a URL of which something is known, carry on what came back or stands aside, repeat an answer. A part
-- of exchange.lua.
local Returns = setmetatable({}, Lazy)

function Returns.make()
    local LARGEST_LOOK, DAY = 64, 86400000
    -- Names of lists aside that no host has: for suspects, and for URLs that two workers died with.
    local SUSPECTS, LONE = '?', '!'
    -- Jobs with nothing to fetch come besides the wanted ones, as many again, within a bound for their outcomes.
    local besides, mostBesides, queueText = 524288, min(256, 2 * Ask.most), string.char(#queue) .. queue

    local function asideOf(priority, host) return Blocks.asideOf(queue, Blocks.PRIORITIES[priority], host) end

    local function give(field, value, bytes, outcome, batch)
        local at, answer, added = 2 * Ask.count, Ask.answer, Ask.added
        answer[at + 10], answer[at + 11], added[at + 1], added[at + 2], Ask.count = bytes, outcome, field, value, Ask.count + 1
        tell(batch, 1)
    end

    local isKept = {}
    local function deliver(job, batch, bytes)
        -- An export of the batch asks for the outcome later. An old one may be gone by then, or one of a caller without a job. Keeping.swift
        -- has the same times.
        local key, time = Locks.outcomeOf(Blocks.idOf(job)), batch.keeps == 'cache' and DAY or 31 * DAY
        if isKept[key] ~= time and call('PTTL', key) < time - DAY / 2 then call('SET', key, bytes, 'PX', time) end
        isKept[key] = time
        local token, value = Locks.newToken(incarnation), queueText .. job
        -- It takes no place of the worker's, and so it counts for none of the jobs that are wanted.
        if besides > 0 and Ask.most < mostBesides then besides, Ask.wanted, Ask.most = besides - #bytes, Ask.wanted + 1, Ask.most + 1 end
        give('d' .. token, value, 'd' .. token .. value, bytes, batch)
    end

    -- The queue waits for a URL that somebody has. Where its holder hangs, the URL goes on without it, and keeps its counts for its followers.
    local function wait(id, lock, priority)
        if Locks.noteFollower(id, lock, queue, priority) then Locks.write(id, lock) end
        if lock.kind == 'W' or Locks.isHeld(lock) then return end
        local holder = sub(lock.token, 9)
        local host = Locks.takeBackLock(id, Locks.holderOf(holder), holder, false)
        if host then Ask.lookAt(host) end
    end

    -- A lock is this worker's from now on. A job of a host that is given up fails with the reason for that.
    local function begin(lock, job, isHopeless, reason)
        lock.kind, lock.token, lock.began, lock.deadline = 'L', Locks.newToken(incarnation), now, Clock.lived + ARGV[4]
        lock.queue, lock.job = queue, job
        if isHopeless then Locks.set(lock, Locks.NO_PLACE, true) end
        if reason and reason ~= '' and lock.crashes < Locks.MOST_CRASHES then lock.failure = reason end
        return lock
    end

    -- What a fetch may ask an outcome about that is no outcome for the job; nothing where there is no need to fetch.
    function Returns.staleFor(bytes, enqueued, batch)
        local outcome = Locks.readOutcome(bytes)
        return outcome and not Locks.satisfies(outcome, enqueued, batch) and Locks.staleOf(bytes)
    end

    -- Begins with a job of whose URL something is known, or whose host is given up. `bytes` is its URL's outcome.
    function Returns.start(id, job, enqueued, bytes, name, batch, taker)
        local outcome = Locks.readOutcome(bytes)
        if outcome and Locks.satisfies(outcome, enqueued, batch) then return deliver(job, batch, bytes) end
        local host = Hosts.of(name)
        local isHopeless = Hosts.isHopeless(host)
        local record = Locks.bytesOf(begin(Locks.new(), job, isHopeless, isHopeless and host.reason))
        if call('HSETNX', Locks.key, id, record) == 0 then
            local lock = Locks.get(id)
            if lock then
                Lists.push(Blocks.followersOf(queue, id), {Blocks.flagged(job, 0)})
                Counts.count(batch, 'parked', 1)
                return wait(id, lock, batch.number)
            end
            call('HSET', Locks.key, id, record)
        end
        if not isHopeless then Hosts.enter(host, 1, taker) end
        give(id, '', record, Locks.staleOf(bytes), batch)
    end

    --@ carryOn aside due

    -- The same exchange again: what it did is told again, as far as it still holds. Its tokens are those after the one that it noted.
    function Returns.answerAgain(last)
        local _, tokens, at = unpackBytes('>I6I8', last)
        local held, given = call('HGETALL', holder), {}
        for i = 1, #held, 2 do
            local field, value = held[i], held[i + 1]
            local bytes = #field == 16 and call('HGET', Locks.key, field)
            if bytes and sub(bytes, 1, 1) == 'L' and sub(bytes, 10, 17) == incarnation then
                given[#given + 1] = {bytes = bytes, job = Locks.read(bytes).job, isLock = true}
            elseif #field == 17 and byte(field) == 100 then
                given[#given + 1] = {bytes = field .. value, job = sub(value, 2 + byte(value))}
            end
        end
        table.sort(given, function(one, other) return sub(one.bytes, 2, 9) < sub(other.bytes, 2, 9) end)
        for _, one in ipairs(given) do
            if unpackBytes('>I8', one.bytes, 2) > tokens then
                local outcome = call('GET', Locks.outcomeOf(Blocks.idOf(one.job)))
                table.insert(Ask.answer, one.bytes)
                table.insert(Ask.answer, one.isLock and Locks.staleOf(outcome) or outcome or '')
                tell(Counts.batchOfJob(queue, one.job), 0)
            end
        end
        Ask.answer[3], Ask.isMore = sub(last, at + #PADDING), true
    end

    -- What the process holds here and does not know goes back, uncharged.
    function Returns.takeBackUnknown()
        local isKnown, held = {}, call('HGETALL', holder)
        for i = OPTIONS + 1 + outcomes, #ARGV do isKnown[ARGV[i]] = true end
        for i = 1, #held, 2 do
            if #held[i] >= 16 and not isKnown[held[i]] then Locks.takeBackField(held[i], held[i + 1], holder, incarnation, false) end
        end
    end
end
