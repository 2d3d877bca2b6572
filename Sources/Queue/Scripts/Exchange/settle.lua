-- Ends requests with their outcomes. A part of exchange.lua, which runs it in its place.
--
-- Each outcome is token(16) id(16) form(1) marks(1) keep(6) fresh(6) pause(6) bytes(6) content:
--   1 fetched, 2 revalidated   an outcome with this content for 'keep' ms, fresh for 'fresh'
--   3 failed                   the same, negative; the job is dead
--   4 retry                    another attempt after 'pause' ms, charged to the URL; the content is its failure
--   5 throttled                another attempt, uncharged; the host starts nothing for 'pause' - 1 ms, or where that is 0 for as long
--                              as the engine finds fit
--   6 back                     given up without prejudice
--   7 delivered                a job whose body is where it belongs: its outcome was there, or its body was there without one
--   8 missing                  a job whose outcome was there and whose body, of the digest 'content', was not
--   9 put off                  another attempt after 'pause' ms, uncharged: the host it was led to had no room, or the worker no network
--  10 place                    the request's place at its host is free, and its URL stays locked. Where 'pause' is above 0 the host starts
--                              nothing for 'pause' - 2 ms, or where that is below 0 for as long as the engine finds fit
--  11 answered                the host has answered a request that the job made before that for its URL, and the job goes on
-- The marks are 1 where the host could not be reached, 2 where nothing was learnt about it, 4 where the outcome is only for jobs
-- enqueued before it ended, 8 where the job was only to be delivered.
-- The verdicts are 1 settled, 0 lost, 2 fenced: it was fetched, and by somebody else as well, 3 malformed.
if outcomes > 0 then
    local REVALIDATED, FAIL, NOT_STORED, SHORTEST, LONGEST, PLACE = 2, 3, 4, 58, 4294967295, 10
    local find, outcomeKey, ids = string.find, tag .. 'outcome:', {unpack(ARGV, OPTIONS + 1, OPTIONS + outcomes)}
    local mayBury = false
    for i = 1, outcomes do
        mayBury = mayBury or byte(ids[i], 33) == FAIL
        ids[i] = sub(ids[i], 17, 32)
    end
    -- A job is not buried by half where the dead are no sorted set.
    if mayBury and queue ~= '' then call('ZCARD', prefix .. 'dead') end
    local locks, verdicts = call('HMGET', Locks.key, unpack(ids)), {unpack(ids)}
    local isSeen, left, names, ended, revalidated, size = {}, {}, {}, {}, 0, 0
    -- What the locks of a block's jobs have in common, and what follows from it. A job is often of the same block as the one before.
    local common, name, batch, keptFor, keptText, freshFor, freshBytes = '\255', nil, nil, nil, nil, nil, nil
    for i = 1, outcomes do
        local bytes, id, lock, verdict = ARGV[OPTIONS + i], ids[i], locks[i], nil
        local earlier = isSeen[id]
        isSeen[id] = earlier or i
        local isJobs = lock and byte(lock) == 76
        if isJobs and find(lock, common, 30, true) ~= 30 then
            common, batch = '\255', nil
            if find(lock, usual, 30, true) == 30 then
                local at = 31 + #usual
                local number, _, length = unpackBytes('>I4I5B', lock, at)
                common, name, batch = sub(lock, 30, at + 9 + length), sub(lock, at + 10, at + 9 + length), Counts.batchOf(queue, number)
                if not left[name] then left[name], names[#names + 1] = 0, name end
            end
        end
        -- The most frequent end: a URL that was fetched in its first attempt, and that nobody else waits for. Ends.settle knows all ends.
        if isJobs and batch and batch.state and not earlier and #bytes >= SHORTEST then
            local form, marks, keep, fresh, _, length = unpackBytes('>BBI6I6I6I6', bytes, 33)
            local token = sub(bytes, 1, 16)
            if form <= REVALIDATED and form > 0 and (marks == 0 or marks == NOT_STORED) and keep > 0 and find(lock, token, 2, true) == 2
                and find(token, incarnation, 9, true) then
                if keep ~= keptFor then keptFor, keptText = keep, string.format('%.0f', keep) end
                if fresh ~= freshFor then freshFor, freshBytes = fresh, pack('>I4', min(LONGEST, fresh / 1000)) end
                local took = now - unpackBytes('>I6', lock, 18)
                if took < 0 or took > LONGEST then took = took < 0 and 0 or LONGEST end
                Hosts.took[name] = took
                call('SET', outcomeKey .. id, (marks == 0 and '\1\0' or '\1\2') .. token .. pack('>I6I4', now, took) .. freshBytes .. sub(bytes, 59),
                    'PX', keptText)
                if form == REVALIDATED then revalidated = revalidated + 1 end
                local list = ended[batch]
                if not list then
                    list = {}
                    ended[batch] = list
                end
                list[#list + 1], left[name], size, verdict = id, left[name] + 1, size + length, '\1'
            end
        end
        if not verdict and earlier then
            local wasPlace = byte(ARGV[OPTIONS + earlier], 33) >= PLACE
            if not wasPlace and sub(ARGV[OPTIONS + earlier], 1, 32) == sub(bytes, 1, 32) then
                -- The same twice in one call is one outcome, and after it there is no place.
                verdict = byte(bytes, 33) >= PLACE and '\0' or verdicts[earlier]
            else
                -- An outcome before this one may have changed the lock: a delivery, or a place that was left while the job goes on. Or it
                -- was only news of the host.
                lock = call('HGET', Locks.key, id)
                if wasPlace then isSeen[id] = i end
            end
        end
        verdicts[i] = verdict or Ends.settle(i, lock)
    end
    for batch, list in pairs(ended) do
        local counts, totals, number, finished = batch.counts, Counts.totals[queue], #list, batch.finished
        counts.active, counts.done = (counts.active or 0) - number, (counts.done or 0) + number
        totals.fetched = (totals.fetched or 0) + number
        if finished[1] then
            for i = 1, number do finished[#finished + 1] = list[i] end
        else
            batch.finished = list
        end
        call('HDEL', Locks.key, unpack(list))
        call('HDEL', holder, unpack(list))
    end
    if names[1] then
        local totals = Counts.totals[queue]
        totals.fetched, totals.bytes = (totals.fetched or 0) - revalidated, (totals.bytes or 0) + size
        if revalidated > 0 then totals.revalidated = (totals.revalidated or 0) + revalidated end
        Hosts.load(names)
    end
    for i = 1, #names do
        name = names[i]
        local running, answers = Hosts.plain[name], left[name]
        if not running then
            Ends.leaveHost(name, answers)
        elseif answers > 0 then
            local earned = Hosts.earned[name]
            if earned == 0 then Hosts.noteAnswer(name) end
            Hosts.plain[name], Hosts.earned[name] = max(0, running - answers), min(Hosts.MOST_EARNED, earned + answers)
        end
    end
    Ask.answer[3] = table.concat(verdicts)
end
