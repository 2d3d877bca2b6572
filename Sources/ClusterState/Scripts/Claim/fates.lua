-- What becomes of a job that a claim meets. A part of claim.lua.
-- In a block: a Lua function has room for 200 locals, and a script is one function.
local staleOf, givenUpPage, serve
do
    -- Below this a host has room, where there is neither a rule nor a rate.
    local usualLimit = (hasRules or hostInterval > 0) and 0 or hostLimit
    local pagePrefix, lockPrefix = pageOf(''), lockOf('')
    local flightHead = 'J' .. pack('>I6', now)
    -- What a fetch may ask by whether it still holds: an answer that was kept, too old for the job. The few that are large would make a
    -- claim's answer very large, and are fetched anew.
    local LARGEST_STALE = 8192
    function staleOf(bytes)
        local page = bytes and #bytes <= LARGEST_STALE and readPage(bytes)
        return page and not page.isForeign and page.isStored and not page.isNegative and bytes or ''
    end

    -- What a job is told whose host takes no connection.
    function givenUpPage(token, job)
        return '\1' .. pack('>Bc16I6I4I4', NEGATIVE + NOT_STORED, token, now, 0, 0) .. ARGV[11] .. urlOf(job.lean)
    end

    local NUMBERS = {high = 1, normal = 2, low = 3}

    -- The line in which a host's jobs of one priority wait for it to have room.
    local function groupOf(host, priority)
        local groups = host.groups
        if not groups then
            groups = {}
            host.groups = groups
        end
        local group = groups[priority]
        if not group then
            group = {
                host = host, jobs = {}, key = held .. priority .. ':' .. host.name, due = ofQueue(queue, 'due:' .. priority),
                mark = NUMBERS[priority] .. queue .. '\n',
            }
            call('LLEN', group.key)
            call('ZCARD', group.due)
            groups[priority] = group
        end
        return group
    end

    -- Decides what becomes of each job, up to `quota` handed out, and then does it. Answers how many were dealt with: the others go back
    -- where they came from. Jobs of `heldFor`, a host, stay in its line when it has no room.
    function serve(jobs, quota, heldFor)
        if #jobs == 0 then return 0 end
        loadHosts(jobs)
        local keys, number = {}, #jobs
        for i = 1, number do
            local id = jobs[i].id
            keys[i], keys[number + i] = pagePrefix .. id, lockPrefix .. id
        end
        local values = strings(keys)

        local fates, groups, taken, lockedHere, unlockedHere, dealt, handed = {}, {}, {}, {}, {}, 0, 0
        local lastNumber, batch
        for i = 1, number do
            local job = jobs[i]
            if handed >= quota then break end
            if job.batch ~= lastNumber then lastNumber, batch = job.batch, batchOf(queue, job.batch) end
            local page, lock, fate = values and readPage(values[i]), values and values[number + i], nil
            local name = job.host
            local host = hosts[name]
            if batch.isGone then
                fate = 'drop'
            elseif page and page.isForeign then
                call('LLEN', foreign)
                fate = 'foreign'
            elseif page and satisfies(page, job, batch) then
                fate = batch.deliver and 'deliver' or 'end'
                checkEnd(queue, job.batch)
            elseif lockedHere[job.id] or (lock and lock ~= job.lock and lock ~= unlockedHere[job.id] and isLive(lock)) then
                call('LLEN', namespace .. 'parked:' .. job.id)
                fate = 'park'
            elseif not (host.running + (taken[name] or 0) < usualLimit and max(host.cool, host.next) <= now and host.probing == 0)
                and not isOpen(host, taken[name] or 0) then
                if isGivenUp(host) then
                    fate = batch.deliver and 'tell' or 'fail'
                    checkEnd(queue, job.batch)
                elseif heldFor then
                    break
                else
                    groups[i], fate = groupOf(host, batch.priority), 'hold'
                end
            else
                fate = 'give'
                taken[name] = (taken[name] or 0) + 1
                lockedHere[job.id] = true
            end
            if fate == 'give' or fate == 'deliver' or fate == 'tell' then handed = handed + 1 end
            -- A retry that does not start now gives its URL up: nobody may be parked behind it any more.
            if job.lock and fate ~= 'give' and fate ~= 'park' then unlockedHere[job.id] = job.lock end
            fates[i], dealt = fate, i
        end
        if dealt == 0 then return 0 end

        writing()
        local holding, locks, begun, ends = {}, {}, {leases}, {expiry}
        local endsAt = string.format('%.0f', lived + lease)
        for i = 1, dealt do
            local job, fate = jobs[i], fates[i]
            if job.lock and fate ~= 'give' then
                -- The retry does not start now, or not any more: those that follow it must not depend on it.
                local isOwn, hasFollowers = look(job.id, job.lock)
                if isOwn and fate ~= 'park' then unlock(job.id, hasFollowers, ORPHANED, now) end
            end
            if job.lock then forgetFlight(job.lock) end
            if fate == 'give' then
                local token, name = newToken(nonce), job.host
                local host, bytes = hosts[name], written(job)
                enterHost(host)
                locks[#locks + 1], locks[#locks + 2] = keys[number + i], token
                begun[#begun + 1], begun[#begun + 2] = token, flightHead .. bytes
                ends[#ends + 1], ends[#ends + 2] = endsAt, token
                give(token, job, bytes, '', values and staleOf(values[i]) or '')
                count(job, 'active', 1)
            elseif fate == 'deliver' or fate == 'tell' then
                local token = newToken(nonce)
                local bytes = written(job)
                begun[#begun + 1], begun[#begun + 2] = token, 'C' .. flightHead:sub(2) .. bytes
                ends[#ends + 1], ends[#ends + 2] = endsAt, token
                give(token, job, bytes, fate == 'deliver' and values[i] or givenUpPage(token, job), '')
                count(job, 'active', 1)
            elseif fate == 'fail' then
                failedHere = failedHere + 1
                bury(job, newToken(nonce), ARGV[11], mostDead)
            elseif fate == 'end' then
                endWith(job, readPage(values[i]).isNegative)
            elseif fate == 'park' then
                call('RPUSH', namespace .. 'parked:' .. job.id, written(job))
                count(job, 'parked', 1)
            elseif fate == 'foreign' then
                call('RPUSH', foreign, written(job))
            elseif fate == 'hold' then
                local group = groups[i]
                local number = #group.jobs
                if number == 0 then holding[#holding + 1] = group end
                group.jobs[number + 1] = job
            end
        end
        if #begun > 1 then
            -- A lock that is there has outlived its lease, or is the job's own from its last attempt.
            if #locks > 0 and call('MSETNX', unpack(locks)) == 0 then call('MSET', unpack(locks)) end
            call('HSET', unpack(begun))
            call('ZADD', unpack(ends))
        end
        for _, group in ipairs(holding) do
            local host = group.host
            pushBack(group.key, line(group.jobs))
            group.jobs = {}
            if not ('\n' .. host.marks):find('\n' .. group.mark, 1, true) then
                changed(host).marks = host.marks .. group.mark
                call('ZADD', group.due, opensAt(host, 0), host.name)
            end
        end
        return dealt
    end
end
