-- Hands out jobs. A part of exchange.lua.
--
-- A priority's jobs are looked for in this order: URLs that a worker died with, of which a worker holds one at most; hosts and URLs
-- whose time has come; blocks that no worker has seen. A job whose outcome is known is handed out to be delivered. A job whose URL is
-- locked follows it. A block whose host has no room moves aside whole. Any other job is locked and handed out.
local handOut = (function()
    -- Blocks, followers and timers that one call looks at.
    local budget = 1000
    local LARGEST_LOOK, MOST_TIMERS, MOST_SUSPECTS, SUSPECTS, NEWER = 64, 64, 8, '?', 'aside:newer'
    local lockTail, lockTailWithout, queueText, outcomes
    local Rarer = {}

    local function asideOf(priority, host) return Blocks.ofQueue(Ask.queue, 'aside:' .. Blocks.PRIORITIES[priority] .. ':' .. host) end
    local function timersOf(priority) return Ask.open[priority].timers end

    -- The caller wants jobs for its free places, and some to start soon after: these only from hosts with two free places.
    local function quotaAt(room) return Ask.givenCount < Ask.wanted and room or max(0, room - 1) end

    local function tell(number, batch, jobs)
        batch.counts.active = (batch.counts.active or 0) + jobs
        Ask.tell(number, batch)
    end

    local function give(field, value, bytes, outcome, number, batch)
        local answer, at = Ask.answer, Ask.size
        answer[at + 1], answer[at + 2] = bytes, outcome
        Ask.size, Ask.givenCount = at + 2, Ask.givenCount + 1
        Ask.added[at - 8], Ask.added[at - 7] = field, value
        Ask.given[Ask.givenCount] = field
        tell(number, batch, 1)
    end

    -- Locks a URL for a job, where nobody has it. Answers whether that was so.
    local function lockAnew(id, job, block, host, bytes)
        local isHopeless = host.probing == Hosts.GIVEN_UP and Hosts.opensAt(host) > Clock.now
        local token = Clock.tokens + 1
        Clock.tokens = token
        local record = 'L' .. pack('>I8', token) .. (isHopeless and lockTailWithout or lockTail) .. job
        if call('HSETNX', Locks.key, id, record) == 0 then return false end
        if not isHopeless then Hosts.enter(host) end
        give(id, '', record, bytes and Locks.staleOf(bytes) or '', block.batch, block.options)
        return true
    end

    -- The same for the jobs of blocks whose URLs nobody has and nothing is known of, as almost all are. Answers how many it has locked.
    local function lockFresh(ids, jobs, owners, number)
        local answer, size, count, added, given = Ask.answer, Ask.size, Ask.givenCount, Ask.added, Ask.given
        local token, i, key = Clock.tokens, 0, Locks.key
        while i < number do
            local block, start = owners[i + 1], i
            local host = Hosts.known[block.host]
            if host.probing == Hosts.GIVEN_UP then break end
            while i < number and owners[i + 1] == block do
                local id = ids[i + 1]
                token = token + 1
                local record = 'L' .. pack('>I8', token) .. lockTail .. jobs[i + 1]
                if call('HSETNX', key, id, record) == 0 then break end
                i, count = i + 1, count + 1
                answer[size + 1], answer[size + 2], added[size - 8], added[size - 7], given[count] = record, '', id, '', id
                size = size + 2
            end
            if i > start then
                Hosts.enter(host, i - start)
                tell(block.batch, block.options, i - start)
            end
            if i < number and owners[i + 1] == block then break end
        end
        Clock.tokens, Ask.size, Ask.givenCount = token, size, count
        return i
    end

    -- Looks at blocks in their order. Those that stand aside already stay when their host has no room. Answers how many blocks it has
    -- dealt with, and what is left of these.
    local function consider(priority, blocks, quota, isAside)
        if Ask.givenCount < Ask.wanted then quota = min(quota, Ask.wanted - Ask.givenCount) end
        local names, isNamed = {}, {}
        for _, block in ipairs(blocks) do
            if not Hosts.known[block.host] and not isNamed[block.host] then
                names[#names + 1], isNamed[block.host] = block.host, true
            end
        end
        Hosts.load(names)
        local picked, ids, jobs, keys, owners, rooms, reached = 0, {}, {}, {}, {}, {}, #blocks
        for i, block in ipairs(blocks) do
            local host = Hosts.known[block.host]
            block.options = Counts.batchOf(Ask.queue, block.batch)
            if block.options.isGone then
                block.count = 0
            else
                local room = rooms[host] or (Hosts.isGivenUp(host) and quota or quotaAt(Hosts.roomFor(host, Ask.queue)))
                if room > 0 and picked < quota then
                    local number = min(block.count, quota - picked, room)
                    rooms[host] = room - number
                    for j = picked + 1, picked + number do
                        jobs[j], ids[j] = Blocks.nextJob(block)
                        keys[j], owners[j] = outcomes .. ids[j], block
                    end
                    picked = picked + number
                elseif room <= 0 and not isAside and not rooms[host] then
                    block.isFull = true
                else
                    reached = i - 1
                    break
                end
            end
        end
        local known = picked > 0 and call('EXISTS', unpack(keys)) > 0 and call('MGET', unpack(keys))
        local locked = known and 0 or lockFresh(ids, jobs, owners, picked)
        for i = locked + 1, picked do
            local block, bytes = owners[i], known and known[i] or nil
            local outcome = bytes and Locks.readOutcome(bytes)
            if outcome and outcome.isForeign then
                Rarer.setAsideForNewer(jobs[i])
            elseif outcome and Locks.satisfies(outcome, block.enqueued, block.options) then
                Rarer.deliver(jobs[i], block.batch, block.options, bytes)
            elseif not lockAnew(ids[i], jobs[i], block, Hosts.known[block.host], bytes) then
                Rarer.follow(ids[i], jobs[i], block.batch)
            end
        end
        -- What a block has left goes back, or aside where its host is full now.
        local rest, aside, order = {}, {}, {}
        for i = 1, reached do
            local block = blocks[i]
            local host = Hosts.known[block.host]
            if block.count > 0 then
                if isAside or not block.isFull and quotaAt(Hosts.roomFor(host, Ask.queue)) > 0 then
                    rest[#rest + 1] = Blocks.restOf(block)
                else
                    if not aside[host] then aside[host], order[#order + 1] = {}, host end
                    table.insert(aside[host], Blocks.restOf(block))
                end
            end
        end
        for _, host in ipairs(order) do Rarer.putAside(priority, host, aside[host]) end
        return reached, rest
    end

    -- Looks at the first elements of a list, up to a URL to carry on, and puts back what is left of them. Answers how many jobs they had, and
    -- whether there is nothing left of some.
    local function serveFrom(key, elements, priority, quota, isAside)
        local blocks, foreign, done, jobs = {}, {}, #elements, 0
        for i, element in ipairs(elements) do
            if #element == 16 then
                done = i - 1
                break
            end
            local block = Blocks.read(element)
            if block then
                blocks[#blocks + 1], block.position = block, i
                jobs = jobs + block.count
            elseif element ~= Blocks.GONE then
                foreign[#foreign + 1] = i
            end
        end
        local reached, rest = consider(priority, blocks, quota, isAside)
        if reached < #blocks then done = blocks[reached + 1].position - 1 end
        for _, i in ipairs(foreign) do
            if i <= done then Rarer.setAsideForNewer(elements[i]) end
        end
        if done == 1 and #rest == 1 then
            call('LSET', key, '0', rest[1])
        else
            call('LTRIM', key, done, '-1')
            for i = #rest, 1, -1 do call('LPUSH', key, rest[i]) end
        end
        return jobs, done > 0 and #rest == 0
    end

    local function serveReady(priority, quota)
        local key, before = Ask.open[priority].key, Ask.givenCount
        local size = 1
        while Ask.givenCount - before < quota and budget > 0 do
            local elements = call('LRANGE', key, '0', min(size, budget) - 1)
            if #elements == 0 then
                Ask.open[priority].ready = false
                return
            end
            budget = budget - #elements
            local earlier = Ask.givenCount
            local jobsSeen = serveFrom(key, elements, priority, quota - (Ask.givenCount - before), false)
            -- The next look is as wide as the jobs that are wanted still; wider where nothing could start.
            local left = quota - (Ask.givenCount - before)
            size = Ask.givenCount == earlier and size * 4 or math.ceil(left * #elements / max(1, jobsSeen))
            size = max(1, min(256, size))
        end
    end

    rarely(Rarer, function()
        function Rarer.putAside(priority, host, elements, isFirst)
            local key = asideOf(priority, host.name)
            local isNew = call('EXISTS', key) == 0
            if isFirst then call('LPUSH', key, unpack(elements)) else Blocks.pushBack(key, elements) end
            local at = Hosts.opensAt(host)
            Hosts.waitFor(host, Ask.queue)
            if isNew then call('ZADD', timersOf(priority), Hosts.lookAgainAt(host, at), 'h' .. host.name) end
        end

        function Rarer.setAsideForNewer(element) call('RPUSH', Blocks.ofQueue(Ask.queue, NEWER), element) end

        function Rarer.deliver(job, number, batch, bytes)
            local token = Locks.newToken(Ask.incarnation)
            local value = queueText .. job
            -- It takes no place of the worker's, and so it counts for none of the jobs that are wanted.
            if Ask.besides > 0 and Ask.most < Ask.mostBesides then
                Ask.besides, Ask.wanted, Ask.most = Ask.besides - #bytes, Ask.wanted + 1, Ask.most + 1
            end
            give('d' .. token, value, 'd' .. token .. value, bytes, number, batch)
        end

        function Rarer.follow(id, job, number)
            local batch = Counts.batchOf(Ask.queue, number)
            local lock = Locks.read(call('HGET', Locks.key, id))
            if lock.isForeign then return Rarer.setAsideForNewer(job) end
            call('RPUSH', Blocks.followersOf(Ask.queue, id), Blocks.flagged(job, 0))
            Counts.count(Ask.queue, number, 'parked', 1)
            if Locks.noteFollower(id, lock, Ask.queue, batch.number) then Locks.write(id, lock) end
            -- Its holder hangs: the URL goes on without it, and keeps its counts for its followers.
            if lock.kind ~= 'W' and not Locks.isHeld(lock) then
                Locks.takeBackLock(id, Locks.holderOf(sub(lock.token, 9)), sub(lock.token, 9), false)
            end
        end

        -- Nobody of the queue follows the URL any more.
        function Rarer.dropTimer(id)
            for _, name in ipairs(Blocks.PRIORITIES) do call('ZREM', Blocks.ofQueue(Ask.queue, 'timers:' .. name), 'u' .. id) end
        end

        function Rarer.stopFollowing(id)
            Rarer.dropTimer(id)
            Locks.unfollow(id, Ask.queue)
        end

        -- Carries a URL on that has followers. `at` tells where it was met: among the timers, aside at its host, or among the suspects.
        -- Answers whether it is done with there.
        function Rarer.carryOn(priority, id, at)
            local timers, member, key = timersOf(priority), 'u' .. id, Blocks.followersOf(Ask.queue, id)
            local lock = Locks.read(call('HGET', Locks.key, id))
            if lock and lock.isForeign then
                call('ZADD', timers, Clock.now + Hosts.LOOK_AGAIN, member)
                return true
            end
            local function uncount(block)
                if block.kind % 64 < Blocks.RETRY_FLAG then
                    Counts.count(Ask.queue, block.batch, 'parked', -1)
                elseif block.kind % 64 < Blocks.BACK_FLAG then
                    Counts.count(Ask.queue, block.batch, 'delayed', -1)
                end
            end
            local bytes = call('GET', Locks.outcomeOf(id))
            local outcome = Locks.readOutcome(bytes)
            local isForNewer, first, job = outcome and outcome.isForeign and not lock, nil, nil
            while true do
                first = call('LINDEX', key, 0)
                if not first then
                    Rarer.stopFollowing(id)
                    return true
                end
                job = Blocks.read(first)
                local isWanted = job and not Counts.batchOf(Ask.queue, job.batch).isGone
                if isWanted and not isForNewer then break end
                call('LPOP', key)
                if isWanted then
                    uncount(job)
                    Rarer.setAsideForNewer(Blocks.flagged(first, 0))
                elseif not job and first ~= Blocks.GONE then
                    Rarer.setAsideForNewer(first)
                end
                budget = budget - 1
                if budget <= 0 then return false end
            end
            if outcome and not outcome.isForeign and Locks.satisfies(outcome, job.enqueued, Counts.batchOf(Ask.queue, job.batch)) then
                local done = 0
                for _, element in ipairs(call('LRANGE', key, 0, min(Ask.most - Ask.givenCount, LARGEST_LOOK * 4) - 1)) do
                    local block = Blocks.read(element)
                    if not block or not Locks.satisfies(outcome, block.enqueued, Counts.batchOf(Ask.queue, block.batch)) then break end
                    if not Counts.batchOf(Ask.queue, block.batch).isGone then
                        uncount(block)
                        Rarer.deliver(Blocks.flagged(element, 0), block.batch, Counts.batchOf(Ask.queue, block.batch), bytes)
                    end
                    done = done + 1
                end
                call('LTRIM', key, done, -1)
                if call('EXISTS', key) == 0 then Rarer.stopFollowing(id) end
                return false
            end
            if lock and lock.kind ~= 'W' and Locks.isHeld(lock) then
                if Locks.noteFollower(id, lock, Ask.queue, priority) then Locks.write(id, lock) end
                call('ZADD', timers, '+inf', member)
                return true
            end
            if lock and lock.kind ~= 'W' then
                Locks.takeBackLock(id, Locks.holderOf(sub(lock.token, 9)), sub(lock.token, 9), false)
                return true
            end
            if lock and lock.began > Clock.now then
                call('ZADD', timers, lock.began, member)
                return true
            end
            local host = Hosts.of(job.host)
            local isHopeless = Hosts.isGivenUp(host) and Hosts.opensAt(host) > Clock.now
            if not isHopeless and Hosts.roomFor(host, Ask.queue) <= 0 then
                if at == 'aside' then return false end
                local aside = asideOf(priority, host.name)
                -- A URL that its own host put off leaves the next probe to another one.
                local next = lock and Locks.has(lock.flags, Locks.PUT_OFF_BY_HOST) and call('LPOP', aside)
                Rarer.putAside(priority, host, {id}, true)
                if next then call('LPUSH', aside, next) end
                call('ZADD', timers, '+inf', member)
                return true
            end
            if Ask.suspect and lock and Locks.has(lock.flags, Locks.SUSPECT) then
                call('RPUSH', asideOf(priority, SUSPECTS), id)
                call('ZADD', timers, '0', 'h' .. SUSPECTS)
                call('ZADD', timers, '+inf', member)
                return true
            end
            if lock and Locks.has(lock.flags, Locks.PUT_OFF_BY_HOST) and host.probing > 0 and at == 'timers' then
                local aside = asideOf(priority, host.name)
                local next = call('LPOP', aside)
                if next then
                    call('LPUSH', aside, id)
                    call('LPUSH', aside, next)
                    call('ZADD', timers, '+inf', member)
                    call('ZADD', timers, Clock.now, 'h' .. host.name)
                    return true
                end
            end
            call('LPOP', key)
            uncount(job)
            local began = lock or {crashes = 0, failures = 0, flags = 0, throttled = 0, failure = '', interested = {}}
            began.kind, began.token, began.began, began.deadline = 'L', Locks.newToken(Ask.incarnation), Clock.now, Clock.lived + Ask.longest
            began.queue, began.job = Ask.queue, Blocks.flagged(first, 0)
            if isHopeless then began.flags = began.flags + Locks.NO_PLACE else Hosts.enter(host) end
            if Locks.has(began.flags, Locks.SUSPECT) then
                Ask.suspect = id
                call('HSET', Ask.holder, 'suspect', id)
            end
            if call('EXISTS', key) == 0 then
                Rarer.dropTimer(id)
                for i = #began.interested, 1, -1 do
                    if sub(began.interested[i].name, 2) == Ask.queue then table.remove(began.interested, i) end
                end
            else
                Locks.noteFollower(id, began, Ask.queue, priority)
                call('ZADD', timers, '+inf', member)
            end
            give(id, '', Locks.write(id, began), Locks.staleOf(bytes), job.batch, Counts.batchOf(Ask.queue, job.batch))
            return true
        end

        -- Serves from what stands aside at a host, as far as the host has room.
        function Rarer.serveAside(priority, name, quota)
            local key, host, before = asideOf(priority, name), Hosts.of(name), Ask.givenCount
            while Ask.givenCount - before < quota and budget > 0 do
                local room = Hosts.isGivenUp(host) and LARGEST_LOOK or quotaAt(Hosts.roomFor(host, Ask.queue))
                if room <= 0 then break end
                local elements = call('LRANGE', key, 0, min(room, quota - (Ask.givenCount - before), LARGEST_LOOK) - 1)
                if #elements == 0 then break end
                budget = budget - #elements
                if #elements[1] == 16 then
                    call('LPOP', key)
                    if not Rarer.carryOn(priority, elements[1], 'aside') then
                        call('LPUSH', key, elements[1])
                        if Ask.givenCount == before then break end
                    end
                else
                    local _, isDone = serveFrom(key, elements, priority, quota - (Ask.givenCount - before), true)
                    if not isDone then break end
                end
            end
            if Ask.givenCount > before then Hosts.turnTaken(host, Ask.queue) end
            if call('EXISTS', key) == 0 then
                call('ZREM', timersOf(priority), 'h' .. name)
            else
                Hosts.waitFor(host, Ask.queue)
                -- It came, whatever it found.
                if host.waiting[1] == Ask.queue then Hosts.changed(host).offered = 0 end
                -- One that has room still, or waits for its turn, is looked at when that comes.
                local at = Hosts.opensAt(host)
                if at <= Clock.now then at = Hosts.roomFor(host, Ask.queue) > 0 and Clock.now or Clock.now + Hosts.TURN_KEPT end
                call('ZADD', timersOf(priority), Hosts.lookAgainAt(host, at), 'h' .. name)
            end
        end

        -- Suspects stand aside under a name that no host has, while their host has room and only workers with a suspect come. Their timer
        -- is due for any other worker. A suspect whose host is full meanwhile stands aside there.
        function Rarer.serveSuspects(priority)
            local key = asideOf(priority, SUSPECTS)
            for _ = 1, min(MOST_SUSPECTS, call('LLEN', key)) do
                if Ask.suspect then return end
                local id = call('LPOP', key)
                if not Rarer.carryOn(priority, id, SUSPECTS) then call('RPUSH', key, id) end
            end
            if call('EXISTS', key) == 0 then call('ZREM', timersOf(priority), 'h' .. SUSPECTS) elseif not Ask.suspect then Ask.isMore = true end
        end

        function Rarer.serveTimer(priority, member, quota)
            local kind = sub(member, 1, 1)
            if member == 'h' .. SUSPECTS then
                if not Ask.suspect then Rarer.serveSuspects(priority) end
            elseif kind == 'h' then
                Rarer.serveAside(priority, sub(member, 2), quota)
            elseif kind == 'u' then
                Rarer.carryOn(priority, sub(member, 2), 'timers')
            else
                local block = sub(member, 10)
                local common = Blocks.read(block)
                call('ZREM', timersOf(priority), member)
                if not common then
                    Rarer.setAsideForNewer(block)
                elseif not Counts.batchOf(Ask.queue, common.batch).isGone then
                    call('LPUSH', Ask.open[priority].key, block)
                    Counts.count(Ask.queue, common.batch, 'delayed', 0 - common.count)
                    Ask.open[priority].ready = true
                end
            end
        end

        function Rarer.serveDue(priority, quota)
            local before = Ask.givenCount
            local due = call('ZRANGE', timersOf(priority), '-inf', Clock.now, 'BYSCORE', 'LIMIT', 0, MOST_TIMERS)
            -- Delayed blocks go to the head of the queue: the last first, so that they stand there in their order.
            for i = #due, 1, -1 do
                if byte(due[i]) == 100 then Rarer.serveTimer(priority, due[i], 0) end
            end
            local function serve(kind)
                local served = 0
                for _, member in ipairs(due) do
                    if Ask.givenCount - before >= quota or budget <= 0 then return served end
                    if byte(member) == kind then
                        budget, served = budget - 1, served + 1
                        Rarer.serveTimer(priority, member, quota - (Ask.givenCount - before))
                    end
                end
                return served
            end
            -- URLs that come back go before the jobs that stand aside at their hosts. There may be more of them than one look shows.
            if serve(117) > 0 and #due == MOST_TIMERS then return end
            for name in pairs(Ask.freed) do
                if Ask.givenCount - before >= quota or budget <= 0 then return end
                if call('EXISTS', asideOf(priority, name)) == 1 then Rarer.serveAside(priority, name, quota - (Ask.givenCount - before)) end
            end
            serve(104)
            if Ask.givenCount - before >= quota or budget <= 0 then return end
            local first = call('ZRANGE', timersOf(priority), '-inf', Clock.now, 'BYSCORE', 'LIMIT', 0, 1)
            if #first == 0 or Ask.givenCount == before then Ask.open[priority].due = false end
            if #first > 0 and #due == MOST_TIMERS then Ask.isMore = true end
        end

        -- What an older version could not read and this one can goes back in line, once nothing else can run.
        function Rarer.takeOnForeign()
            local key = Blocks.ofQueue(Ask.queue, NEWER)
            local elements, back = call('LRANGE', key, 0, LARGEST_LOOK - 1), 0
            for _, element in ipairs(elements) do
                local block = call('LPOP', key) and Blocks.read(element)
                local id = block and block.count == 1 and Blocks.idOf(element)
                local outcome, lock = id and Locks.readOutcome(call('GET', Locks.outcomeOf(id))), id and Locks.read(call('HGET', Locks.key, id))
                if block and not (outcome and outcome.isForeign) and not (lock and lock.isForeign) then
                    local batch = Counts.batchOf(Ask.queue, block.batch)
                    if not batch.isGone then
                        call('LPUSH', Blocks.ofQueue(Ask.queue, 'ready:' .. batch.priority), element)
                        back = back + 1
                    end
                else
                    call('RPUSH', key, element)
                end
            end
            if back > 0 then Ask.isMore = true end
        end
    end)

    -- Six to three to one.
    local WHEEL = {1, 1, 2, 1, 2, 1, 1, 2, 1, 3}

    -- How many of the next `number` turns fall to each priority; the turn of one that has nothing to serve is the next one's.
    local function sharesOf(number)
        local shares, isAny = {0, 0, 0}, false
        local first, line = next(Ask.open)
        if first and not next(Ask.open, first) then
            shares[first] = number
            return (line.ready or line.due) and shares
        end
        for place = 0, #WHEEL - 1 do
            local turns = floor(number / #WHEEL) + (place < number % #WHEEL and 1 or 0)
            local priority = WHEEL[(Clock.turn + place) % #WHEEL + 1]
            for i = 0, 2 do
                local next = (priority + i - 1) % 3 + 1
                if Ask.open[next] and (Ask.open[next].ready or Ask.open[next].due) then
                    shares[next], isAny = shares[next] + turns, true
                    break
                end
            end
        end
        return isAny and shares
    end

    return function()
        queueText, outcomes = pack('>B', #Ask.queue) .. Ask.queue, Locks.outcomeOf('')
        local ends = Clock.lived + Ask.longest
        lockTail = Ask.incarnation .. pack('>I6I6BBBI6I2', Clock.now, ends, 0, 0, 0, 0, #Ask.extras) .. Ask.extras
        lockTailWithout = Ask.incarnation .. pack('>I6I6BBBI6I2', Clock.now, ends, 0, 0, Locks.NO_PLACE, 0, #Ask.extras) .. Ask.extras
        for _, line in pairs(Ask.open) do
            local first = call('ZRANGE', line.timers, '0', '0', 'WITHSCORES')[2]
            line.ready, line.due = true, next(Ask.freed) ~= nil or first and tonumber(first) <= Clock.now
        end
        while Ask.givenCount < Ask.most do
            local shares, before = sharesOf(Ask.most - Ask.givenCount), Ask.givenCount
            if not shares then break end
            for priority = 1, 3 do
                if shares[priority] > 0 and Ask.givenCount < Ask.most then
                    if budget <= 0 then
                        Ask.isMore = true
                        return
                    end
                    local start, quota = Ask.givenCount, min(shares[priority], Ask.most - Ask.givenCount)
                    local line = Ask.open[priority]
                    if line.due then Rarer.serveDue(priority, quota) end
                    -- One look finds only some of what is due, and all of it goes before jobs that never ran.
                    if line.ready and not line.due and Ask.givenCount - start < quota then
                        serveReady(priority, quota - (Ask.givenCount - start))
                    end
                end
            end
            Clock.turn = Clock.turn + max(1, Ask.givenCount - before)
        end
        if Ask.givenCount == 0 and call('LLEN', Blocks.ofQueue(Ask.queue, NEWER)) > 0 then Rarer.takeOnForeign() end
    end
end)()
