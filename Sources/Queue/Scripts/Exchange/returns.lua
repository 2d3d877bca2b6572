-- What few exchanges do: carry on what came back or stood aside, wait, repeat an answer. A part of exchange.lua.
local Returns = setmetatable({}, Lazy)

function Returns.make()
    local LARGEST_LOOK, MOST_TIMERS, MOST_SEARCHED, MOST_PASSED_OVER, DAY = 64, 64, 1000, 8, 86400000
    local SUSPECTS, LONE = '?', '!'
    -- Jobs with nothing to fetch come besides the wanted ones, as many again, within a bound for their outcomes.
    local besides, mostBesides, queueText = 524288, min(256, 2 * Ask.most), string.char(#queue) .. queue

    local function asideOf(priority, host) return prefix .. 'aside:' .. Blocks.PRIORITIES[priority] .. ':' .. host end

    -- At the head of what stands aside there, or at its end.
    function Returns.putAside(priority, host, isFirst, elements)
        local key = asideOf(priority, host.name)
        local at, isNew = Hosts.opensAt(host), false
        if isFirst then isNew = call('LPUSH', key, unpack(elements)) == #elements else isNew = Lists.push(key, elements) end
        Hosts.waitFor(host, queue)
        if isNew then call('ZADD', Ask.open[priority].timers, Hosts.lookAgainAt(host, at) + Hosts.BEHIND, 'h' .. host.name) end
    end

    -- Puts blocks aside whose host was full, and what is left of blocks whose host became so. Jobs that were only to be delivered took no
    -- room: what is left beside these goes back.
    function Returns.putFull(priority, full, back)
        local aside, order = {}, {}
        for _, rest in ipairs(full) do
            local name, list = rest.name, back
            if not rest.count or Ask.roomAt(name) <= 0 then
                if not aside[name] then aside[name], order[#order + 1] = {}, name end
                list = aside[name]
            end
            if rest.count then Blocks.split(rest, 64, list) else list[#list + 1] = rest.bytes end
        end
        for _, name in ipairs(order) do Returns.putAside(priority, Hosts.of(name), false, aside[name]) end
    end

    local function give(field, value, bytes, outcome, batch)
        local at, answer, added = 2 * Ask.count, Ask.answer, Ask.added
        answer[at + 10], answer[at + 11], added[at + 1], added[at + 2], Ask.count = bytes, outcome, field, value, Ask.count + 1
        tell(batch, 1)
    end

    -- An export of the batch asks for the outcome later. An old one may be gone by then, or one of a caller without a job. Keeping.swift has
    -- the same times.
    local isKept = {}
    local function keep(id, bytes, batch)
        local time = batch.keeps == 'cache' and DAY or 31 * DAY
        if isKept[id] == time then return end
        isKept[id] = time
        if call('PTTL', Locks.outcomeOf(id)) < time - DAY / 2 then call('SET', Locks.outcomeOf(id), bytes, 'PX', time) end
    end

    local function deliver(job, batch, bytes)
        keep(Blocks.idOf(job), bytes, batch)
        local token, value = Locks.newToken(incarnation), queueText .. job
        -- It takes no place of the worker's, and so it counts for none of the jobs that are wanted.
        if besides > 0 and Ask.most < mostBesides then besides, Ask.wanted, Ask.most = besides - #bytes, Ask.wanted + 1, Ask.most + 1 end
        give('d' .. token, value, 'd' .. token .. value, bytes, batch)
    end

    -- Its holder hangs: the URL goes on without it, and keeps its counts for its followers.
    local function takeBack(id, lock)
        local host = Locks.takeBackLock(id, Locks.holderOf(sub(lock.token, 9)), sub(lock.token, 9), false)
        if host then Ask.lookAt(host) end
    end

    local function follow(id, lock, job, batch)
        Lists.push(Blocks.followersOf(queue, id), {Blocks.flagged(job, 0)})
        Counts.count(queue, batch.index, 'parked', 1)
        if Locks.noteFollower(id, lock, queue, batch.number) then Locks.write(id, lock) end
        if lock.kind ~= 'W' and not Locks.isHeld(lock) then takeBack(id, lock) end
    end

    -- What a fetch may ask an outcome about that is no outcome for the job; nothing where there is no need to fetch.
    function Returns.staleFor(bytes, enqueued, batch)
        local outcome = Locks.readOutcome(bytes)
        return outcome and not Locks.satisfies(outcome, enqueued, batch) and Locks.staleOf(bytes)
    end

    -- As 'usual' in exchange.lua, for a job that fails because its host is given up: with the reason in the place of its last failure.
    local function hopeless(host)
        local extras = pack('>B', #queue) .. queue .. pack('>I2', #host.reason) .. host.reason
        return '\0\0' .. string.char(Locks.NO_PLACE) .. sub(usual, 4, 9) .. pack('>I2', #extras) .. extras
    end

    -- Begins with a job of whose URL something is known, or whose host is given up. `bytes` is its URL's outcome.
    function Returns.start(id, job, enqueued, bytes, name, batch, taker)
        local outcome = Locks.readOutcome(bytes)
        if outcome and Locks.satisfies(outcome, enqueued, batch) then return deliver(job, batch, bytes) end
        local host = Hosts.of(name)
        local isHopeless = Hosts.isHopeless(host)
        local record = 'L' .. Locks.newToken(incarnation) .. pack('>I6I6', now, Clock.lived + ARGV[4])
            .. (isHopeless and hopeless(host) or usual) .. job
        if call('HSETNX', Locks.key, id, record) == 0 then
            local lock = Locks.read(call('HGET', Locks.key, id))
            if lock then return follow(id, lock, job, batch) end
            call('HSET', Locks.key, id, record)
        end
        if not isHopeless then Hosts.enter(host, 1, taker) end
        give(id, '', record, bytes and Locks.staleOf(bytes) or '', batch)
    end

    local function uncount(follower, number)
        local state = Blocks.stateOf(follower)
        if state ~= 'ready' then Counts.count(queue, number, state, -1) end
    end

    -- Nobody of the queue follows the URL any more.
    local function dropTimer(id)
        for _, name in ipairs(Blocks.PRIORITIES) do call('ZREM', Blocks.ofQueue(queue, 'timers:' .. name), 'u' .. id) end
    end

    local function stopFollowing(id)
        dropTimer(id)
        Locks.unfollow(id, queue)
    end

    local function isPutOff(lock) return lock and Locks.has(lock.flags, Locks.PUT_OFF_BY_HOST) end

    -- The first job of a block by itself, and what the block has left.
    local function parted(bytes)
        local block, left = Blocks.read(bytes), {}
        if block.count == 1 then return bytes end
        local at = 13 + #block.host
        local ends = at + 2 + unpackBytes('>I2', bytes, at)
        Blocks.split({bytes = bytes, at = ends, count = block.count - 1}, 64, left)
        return string.char(block.kind - 4) .. sub(bytes, 2, at - 2) .. sub(bytes, at + 2, ends - 1), left[1]
    end

    -- A URL that its own host put off leaves the host's next probe to another URL of its priority: one that came back for another reason,
    -- or a job that never ran. It comes to the head of what stands aside there. Answers whether there is one.
    local function bringOther(priority, host)
        local key, ready = asideOf(priority, host.name), Ask.open[priority].ready
        for i, element in ipairs(call('LRANGE', key, 0, LARGEST_LOOK - 1)) do
            Ask.budget = Ask.budget - 1
            local isURL = #element == 16
            if isURL and not isPutOff(Locks.read(call('HGET', Locks.key, element))) or not isURL and Blocks.read(element) then
                local first, left = element, nil
                if not isURL then first, left = parted(element) end
                if i > 1 or left then
                    call('LSET', key, i - 1, left or Blocks.GONE)
                    call('LPUSH', key, first)
                end
                return true
            end
        end
        local element = call('LPOP', ready)
        local block = element and Blocks.read(element)
        if not block or block.host ~= host.name then
            if element then call('LPUSH', ready, element) end
            return false
        end
        local first, left = parted(element)
        if left then call('LPUSH', ready, left) end
        Returns.putAside(priority, host, true, {first})
        return true
    end

    -- Whether the worker holds nothing, and gets nothing in this call.
    local function hasNothing()
        if ARGV[15] ~= '1' then return false end
        local meta = (before[1] and 1 or 0) + call('HEXISTS', holder, 'suspects')
        return Ask.count == 0 and call('HLEN', holder) == meta
    end

    -- Carries a URL on that has followers. `at` tells where it was met: among the timers, aside at its host, or among the suspects.
    -- Answers whether it is done with there.
    local function carryOn(priority, id, at)
        local timers, member, key = Ask.open[priority].timers, 'u' .. id, Blocks.followersOf(queue, id)
        -- The followers that stood here are gone. Followers that came since may have their one timer under another priority.
        if at ~= 'timers' and not call('ZSCORE', timers, member) then return true end
        local lock = Locks.read(call('HGET', Locks.key, id))
        local function lookAgain(at)
            call('ZADD', timers, at, member)
            return true
        end
        local bytes = call('GET', Locks.outcomeOf(id))
        local outcome = Locks.readOutcome(bytes)
        local first, job
        while true do
            first = call('LINDEX', key, 0) or Lists.goOn(key) and call('LINDEX', key, 0)
            if not first then
                stopFollowing(id)
                return true
            end
            job = Blocks.read(first)
            if job and not Counts.batchOf(queue, job.batch).isGone then break end
            call('LPOP', key)
            Ask.budget = Ask.budget - 1
            if Ask.budget <= 0 then return false end
        end
        if outcome and Locks.satisfies(outcome, job.enqueued, Counts.batchOf(queue, job.batch)) then
            local done = 0
            for _, element in ipairs(call('LRANGE', key, 0, min(Ask.most - Ask.count, LARGEST_LOOK * 4) - 1)) do
                local block = Blocks.read(element)
                if not block or not Locks.satisfies(outcome, block.enqueued, Counts.batchOf(queue, block.batch)) then break end
                if not Counts.batchOf(queue, block.batch).isGone then
                    uncount(element, block.batch)
                    deliver(Blocks.flagged(element, 0), Counts.batchOf(queue, block.batch), bytes)
                end
                done = done + 1
            end
            call('LTRIM', key, done, -1)
            if Lists.isEmpty(key) then stopFollowing(id) end
            return false
        end
        if lock and lock.kind ~= 'W' then
            if Locks.noteFollower(id, lock, queue, priority) then Locks.write(id, lock) end
            lookAgain(Locks.looksAt(lock))
            if not Locks.isHeld(lock) then takeBack(id, lock) end
            return true
        end
        if lock and lock.began > now then return lookAgain(lock.began) end
        local host = Hosts.of(job.host)
        -- There is no request for a URL that is given up, or whose host is.
        local isHostless = Hosts.isHopeless(host)
        local isHopeless = isHostless or lock and (lock.crashes >= Locks.MOST_CRASHES or Hosts.putOffEnds(lock) <= now)
        -- A worker that has nothing else waits for the host like a queue of its own.
        local taker = at == LONE and ':' .. LONE or queue
        if not isHopeless and Hosts.roomFor(host, taker) <= 0 then
            if at == 'aside' then return false end
            if at == LONE and (Hosts.opensAt(host) == Hosts.NEVER or Hosts.opensAt(host) <= now) then
                Hosts.waitFor(host, taker)
                return false
            end
            Returns.putAside(priority, host, true, {id})
            return lookAgain(Hosts.putOffEnds(lock))
        end
        local weight = lock and Locks.weightOf(lock) or 0
        local list = weight >= Locks.ALONE and LONE or weight > 0 and Ask.suspects + weight > Locks.MOST_SUSPECTS and SUSPECTS
        if list and not (list == LONE and hasNothing()) then
            if at == list then return false end
            call('RPUSH', asideOf(priority, list), id)
            call('ZADD', timers, Hosts.BEHIND, 'h' .. list)
            if list == LONE then Ask.isMore = true end
            return lookAgain('+inf')
        end
        if not isHopeless and at == 'timers' and host.probing > 0 and isPutOff(lock) and bringOther(priority, host) then
            Returns.putAside(priority, host, true, {id})
            -- Once all URLs that are due were looked at.
            Ask.freed[host.name] = true
            return lookAgain(Hosts.putOffEnds(lock))
        end
        call('LPOP', key)
        uncount(first, job.batch)
        local began = lock or {crashes = 0, failures = 0, flags = 0, throttled = 0, failure = '', interested = {}}
        began.kind, began.token, began.began, began.deadline = 'L', Locks.newToken(incarnation), now, Clock.lived + ARGV[4]
        began.queue, began.job = queue, Blocks.flagged(first, 0)
        if isHopeless then
            began.flags = began.flags + Locks.NO_PLACE
            if isHostless and host.reason ~= '' and began.crashes < Locks.MOST_CRASHES then began.failure = host.reason end
        else
            Hosts.enter(host, 1, at ~= 'aside' and taker)
        end
        Ask.suspects = Ask.suspects + weight
        Locks.noteSuspect(holder, weight)
        -- The worker gets nothing else.
        if list == LONE then Ask.most, Ask.wanted, Ask.budget, Ask.isHeldBack = Ask.count + 1, Ask.count + 1, 0, true end
        if Lists.isEmpty(key) then
            dropTimer(id)
            for i = #began.interested, 1, -1 do
                if sub(began.interested[i].name, 2) == queue then table.remove(began.interested, i) end
            end
        else
            Locks.noteFollower(id, began, queue, priority)
            lookAgain(Locks.looksAt(began))
        end
        give(id, '', Locks.write(id, began), Locks.staleOf(bytes), Counts.batchOf(queue, job.batch))
        return true
    end

    -- Serves from what stands aside at a host, as far as the host has room.
    local function serveAside(priority, name, goal)
        local key, host, before = asideOf(priority, name), Hosts.of(name), Ask.count
        while Ask.count < goal and Ask.budget > 0 do
            local room = Ask.roomOrMost(name, LARGEST_LOOK)
            if room <= 0 then break end
            local first = host.probing > 0 and call('LINDEX', key, 0)
            if first and #first == 16 and isPutOff(Locks.read(call('HGET', Locks.key, first))) then bringOther(priority, host) end
            local elements = Ask.firstOf(key, min(room, goal - Ask.count), LARGEST_LOOK)
            if #elements == 0 and Lists.goOn(key) then elements = Ask.firstOf(key, min(room, goal - Ask.count), LARGEST_LOOK) end
            if #elements == 0 then break end
            Ask.budget = Ask.budget - #elements
            if #elements[1] == 16 then
                call('LPOP', key)
                if not carryOn(priority, elements[1], 'aside') then
                    call('LPUSH', key, elements[1])
                    if Ask.count == before then break end
                end
            else
                local _, isDone = Ask.serve(key, elements, priority, goal - Ask.count, true)
                if not isDone then break end
            end
        end
        if Ask.count > before then Hosts.turnTaken(host, queue) end
        if Lists.isEmpty(key) then
            call('ZREM', Ask.open[priority].timers, 'h' .. name)
        else
            Hosts.waitFor(host, queue)
            -- It came, whatever it found.
            if host.waiting[1] == queue then Hosts.changed(host).offered = 0 end
            -- One that has room still, or waits for its turn, is looked at when that comes.
            local at = Hosts.opensAt(host)
            host.needs = Hosts.needsOf(key, name)
            if at <= now then at = Hosts.roomFor(host, queue) > 0 and now - host.needs or now + Hosts.TURN_KEPT end
            call('ZADD', Ask.open[priority].timers, Hosts.lookAgainAt(host, at) + Hosts.BEHIND, 'h' .. name)
        end
    end

    -- Suspects stand aside under a name that no host has, while their host has room and no worker comes that may hold them beside its
    -- own. Their timer is always due. A suspect whose host is full meanwhile stands aside there.
    local function serveSuspects(priority, goal)
        local key = asideOf(priority, SUSPECTS)
        local length = call('LLEN', key)
        for _ = 1, min(Locks.MOST_SUSPECTS, length) do
            if Ask.count >= goal then return end
            local id, before = call('LPOP', key), Ask.count
            if not carryOn(priority, id, SUSPECTS) then
                call('LPUSH', key, id)
                if Ask.count == before then return end
            end
        end
        local left = call('LLEN', key)
        if left == 0 then call('ZREM', Ask.open[priority].timers, 'h' .. SUSPECTS) end
        if left > 0 and left < length and Ask.suspects < Locks.MOST_SUSPECTS then Ask.isMore = true end
    end

    -- URLs that two workers died with stand aside under another name that no host has. A worker that has nothing takes one, and then
    -- nothing else. One worker of the queue at a time takes no more jobs until it has nothing.
    function Returns.serveLone()
        local isLeft = false
        for priority = 1, 3 do
            local line, key = Ask.open[priority], asideOf(priority, LONE)
            -- A URL whose host is busy goes behind the others.
            for _ = 1, line and min(call('LLEN', key), LARGEST_LOOK) or 0 do
                if Ask.budget <= 0 or not hasNothing() then break end
                local id = call('LPOP', key)
                Ask.budget = Ask.budget - 1
                if not carryOn(priority, id, LONE) then call('RPUSH', key, id) end
            end
            if line and call('EXISTS', key) == 1 then isLeft = true elseif line then call('ZREM', line.timers, 'h' .. LONE) end
        end
        local who = call('HGET', KEYS[2], 'alone')
        local isOther = who and who ~= incarnation and tonumber(call('ZSCORE', Locks.leases, who) or 0) > Clock.lived
        if not isLeft then
            if who then call('HDEL', KEYS[2], 'alone') end
        elseif not isOther then
            if who ~= incarnation then call('HSET', KEYS[2], 'alone', incarnation) end
            Ask.isHeldBack = true
        end
        if Ask.isHeldBack then Ask.most, Ask.wanted = Ask.count, Ask.count end
    end

    local function serveTimer(priority, member, goal)
        local kind = sub(member, 1, 1)
        if member == 'h' .. LONE then
            return
        elseif member == 'h' .. SUSPECTS then
            if Ask.suspects < Locks.MOST_SUSPECTS then serveSuspects(priority, goal) end
        elseif kind == 'h' then
            serveAside(priority, sub(member, 2), goal)
        elseif kind == 'u' then
            -- Deliveries may leave followers of the URL, and these have come back too.
            repeat local isDone = carryOn(priority, sub(member, 2), 'timers') until isDone or Ask.count >= goal or Ask.budget <= 0
        end
    end

    -- Delayed jobs that are due are handed out like jobs that no worker has seen, and before these. Each list is in the order in which it
    -- is due. Notes such lists among timers that are due, the earliest first, and answers the other timers.
    local function noteDelayed(line, due)
        local lists, others = {}, {}
        for _, member in ipairs(due) do
            local delay = member:match('^d(%d+)$')
            if delay then
                lists[#lists + 1] = {member = member, key = Blocks.delayedOf(queue, line.name, delay), delay = tonumber(delay)}
            elseif byte(member) == 100 then
                call('ZREM', line.timers, member)
            else
                others[#others + 1] = member
            end
        end
        line.delayed = lists[1] and lists
        if line.delayed then line.isReady = true end
        return others
    end

    -- For a priority whose first timer is one of delayed jobs. Answers whether timers of another kind are due, as far as one look shows.
    function Returns.findDelayed(line)
        local due = call('ZRANGE', line.timers, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST_TIMERS)
        return #noteDelayed(line, due) > 0 or #due == MOST_TIMERS
    end

    local function dueAt(list, element)
        return Blocks.isSound(element) and Blocks.enqueued(element) + list.delay or now
    end

    -- The first elements of a delayed list, as far as they are due.
    function Returns.dueOf(list, elements)
        for i = 1, #elements do
            if dueAt(list, elements[i]) > now then return {unpack(elements, 1, i - 1)} end
        end
        return elements
    end

    -- The list of delayed jobs that is served is looked at again when its first jobs are due. Where that is not yet, the next list comes.
    function Returns.leaveDelayed(line)
        local list = line.delayed[1]
        local first = call('LINDEX', list.key, 0) or Lists.goOn(list.key) and call('LINDEX', list.key, 0)
        local at = first and dueAt(list, first)
        if first then call('ZADD', line.timers, at, list.member) else call('ZREM', line.timers, list.member) end
        if at and at <= now then return end
        table.remove(line.delayed, 1)
        if not line.delayed[1] then line.delayed = nil end
    end

    -- The members of hosts that are due, and of those with jobs aside whose requests have ended in this call. The host that needs the longest
    -- comes first. Redis has those that are due in this order.
    local function hostsInOrder(priority, due)
        local scores, freed, hosts, next = {}, {}, {}, 1
        for name in pairs(Ask.freed) do
            local key = asideOf(priority, name)
            if not Lists.isEmpty(key) then
                local host = Hosts.of(name)
                host.needs = Hosts.needsOf(key, name)
                freed[#freed + 1], scores['h' .. name] = 'h' .. name, now - host.needs
            end
        end
        for i = 1, #due, 2 do
            if scores[due[i]] then scores[due[i]] = min(scores[due[i]], due[i + 1] - Hosts.BEHIND) end
        end
        local function isBefore(one, other, at) return scores[one] < at or scores[one] == at and one < other end
        table.sort(freed, function(one, other) return isBefore(one, other, scores[other]) end)
        for i = 1, #due, 2 do
            if not scores[due[i]] then
                while freed[next] and isBefore(freed[next], due[i], due[i + 1] - Hosts.BEHIND) do hosts[#hosts + 1], next = freed[next], next + 1 end
                hosts[#hosts + 1] = due[i]
            end
        end
        for i = next, #freed do hosts[#hosts + 1] = freed[i] end
        return hosts
    end

    -- Serves what is due of a priority, until so many jobs are handed out.
    function Returns.serveDue(priority, goal)
        local line, before = Ask.open[priority], Ask.count
        local function look(most) return call('ZRANGE', line.timers, '-inf', now, 'BYSCORE', 'LIMIT', 0, most) end
        local due = look(MOST_TIMERS)
        local isFull = #due == MOST_TIMERS
        local urls = noteDelayed(line, due)
        if isFull and not urls[1] then urls = noteDelayed(line, look(MOST_SEARCHED)) end
        local mostHosts = min(MOST_TIMERS, 2 * (MOST_PASSED_OVER + max(0, Ask.wanted - before)))
        local dueHosts = call('ZRANGE', line.timers, Hosts.BEHIND, Hosts.BEHIND + now, 'BYSCORE', 'LIMIT', 0, mostHosts, 'WITHSCORES')
        local function countOthers()
            local delayed = line.delayed and #line.delayed or 0
            return call('ZCOUNT', line.timers, '-inf', now) - delayed + call('ZCOUNT', line.timers, Hosts.BEHIND, Hosts.BEHIND + now)
        end
        local isMore = isFull or #dueHosts == 2 * mostHosts
        local waiting = isMore and countOthers() or 0
        local function isOver() return Ask.count >= goal or Ask.budget <= 0 end
        local served = 0
        for _, member in ipairs(urls) do
            if isOver() then break end
            Ask.budget, served = Ask.budget - 1, served + 1
            serveTimer(priority, member, goal)
        end
        -- URLs that come back go before the jobs that stand aside at their hosts. There may be more of them than one look shows.
        if served > 0 and isFull then return end
        line.isDue = false
        local hosts, passedOver = hostsInOrder(priority, dueHosts), 0
        for _, member in ipairs(hosts) do
            if isOver() or passedOver >= MOST_PASSED_OVER then break end
            local name = sub(member, 2)
            -- A host that has room, and none for jobs that start later, stays due for the next call that wants jobs at once.
            if Ask.count >= Ask.wanted and #member > 2 and Hosts.roomFor(Hosts.of(name), queue) > 0 and Ask.roomOrMost(name, 1) <= 0 then
                passedOver = passedOver + 1
            else
                Ask.budget = Ask.budget - 1
                serveTimer(priority, member, goal)
            end
        end
        if isOver() then
            line.isDue = true
            return
        end
        if passedOver > 0 then return end
        local left = countOthers()
        -- A look that only put off what it found may have left what can run.
        if left > 0 and (Ask.count > before or left < waiting) then line.isDue = true end
        if left > 0 and isMore then Ask.isMore = true end
    end

    -- How many of the next `number` turns fall to each priority, six to three to one; the turn of one that has nothing to serve is the
    -- next one's. Each queue goes round by itself: queues that claim one after the other could else leave one of them no turn of its low
    -- jobs.
    function Returns.sharesOf(number, turn)
        local WHEEL, shares, isAny = {1, 1, 2, 1, 2, 1, 1, 2, 1, 3}, {0, 0, 0}, false
        for place = 0, #WHEEL - 1 do
            local turns = floor(number / #WHEEL) + (place < number % #WHEEL and 1 or 0)
            local priority = WHEEL[(turn + place) % #WHEEL + 1]
            for i = 0, 2 do
                local next = (priority + i - 1) % 3 + 1
                if Ask.open[next] and (Ask.open[next].isReady or Ask.open[next].isDue) then
                    shares[next], isAny = shares[next] + turns, true
                    break
                end
            end
        end
        return isAny and shares
    end

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
                tell(Counts.batchOf(queue, (unpackBytes('>I4', one.job, 2))), 0)
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

    -- When the partition wants the next visit of a worker with free places, given when a lease may end. Notes what is left in the queue.
    function Returns.nextVisit(visit, ended)
        local hasTimer = false
        for _, line in pairs(isPaused and {} or Ask.open) do
            local timers = Hosts.firstTimers(line.timers, 3)
            local at = timers[1] and timers[1].at - now
            for _, host in ipairs(timers.hosts) do
                -- Suspects wait for a worker that has fewer of them, or nothing.
                local isSuspects = host.member == 'h' .. SUSPECTS or host.member == 'h' .. LONE
                at = min(at or Hosts.NEVER, isSuspects and 1000 or host.at - now)
                if not isSuspects then break end
            end
            if at and Ask.isHeldBack then at = Hosts.TURN_KEPT end
            if at then visit, hasTimer = max(0, min(visit, at)), true end
        end
        if Counts.openJobs(queue) <= 0 then
            Ask.answer[5] = 1
            if ended[queue] then
                Counts.forgetBatches(queue)
                Counts.wake(queue, Counts.MOST_WOKEN)
            end
        elseif Ask.count == 0 and not (hasTimer or isPaused or Ask.isHeldBack) then
            local isMissing = numberOf(call('HGET', KEYS[2], 'active')) == 0
            for _, line in pairs(Ask.open) do isMissing = isMissing and Lists.isEmpty(line.ready) end
            if isMissing then Ask.answer[5] = 2 end
        end
        return visit
    end
end
