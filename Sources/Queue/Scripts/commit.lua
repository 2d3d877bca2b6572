--@ clock lists blocks counts
-- Carries out a step that Commit.swift has prepared, as a whole, if all that it rests on is still so. Nothing is written otherwise.
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 how many checks   2 'begins' for a new batch, which a full Redis refuses; or how many of the queue's idle workers hear of it,
--       and all once its last job has ended; or nothing where the step is nothing to the queue
--       then each check: the reply, how many words, and the command's words; a number counts as its digits, and nothing as ''
--       then each change: how many words, and the command's words, of which the second is a key. LPUSH puts one
--       element in front of a long list
-- Answer: whether it was carried out
local queue, woken, at = KEYS[2]:sub(#tag + 3, -7), ARGV[2], 3
local LOOKS = {L = 'LLEN', R = 'LLEN', H = 'HLEN', Z = 'ZCARD'}
for _ = 1, tonumber(ARGV[1]) do
    local reply, last = ARGV[at], at + 1 + ARGV[at + 1]
    if tostring(call(unpack(ARGV, at + 2, last)) or '') ~= reply then return 0 end
    at = last + 1
end
-- Redis does not roll a script back: keys that hold something else stop it before it writes.
local changes = {}
while at <= #ARGV do
    local change = {unpack(ARGV, at + 1, at + ARGV[at])}
    local look = LOOKS[sub(change[1], 1, 1)]
    if change[1] == 'LPUSH' then Lists.check(change[2]) elseif look then call(look, change[2]) end
    if change[1] == 'HINCRBY' and areDamaged({call('HGET', change[2], change[3])}) then return damaged(change[2]) end
    changes[#changes + 1], at = change, at + 1 + #change
end
if woken ~= '' then call('HLEN', KEYS[2]) end
if woken ~= 'begins' and #changes > 0 then Clock.writeAlsoWhenFull() end
if woken ~= '' then Clock.use(queue, Clock.now) end
for _, change in ipairs(changes) do
    local answer
    if change[1] == 'LPUSH' then Lists.putFirst(change[2], change[3]) else answer = redis.pcall(unpack(change)) end
    -- Not every user may call each command, and Redis would name only this line.
    if type(answer) == 'table' and answer.err then
        local isRefused = answer.err:find('run this command', 1, true)
        return isRefused and redis.error_reply("NOPERM no permissions to run the '" .. change[1] .. "' command") or answer
    end
end
if #changes > 0 then Clock.save() end
-- What another program wrote into the keys of batches does not make a step half done.
if woken ~= '' then pcall(Counts.forgetBatches, queue) end
if tonumber(woken) then Counts.wake(queue, Counts.openJobs(queue) <= 0 and Counts.MOST_WOKEN or tonumber(woken)) end
return 1
