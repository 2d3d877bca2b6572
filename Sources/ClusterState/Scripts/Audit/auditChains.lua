-- Looks whether `freed` names these chains, so that claims find them.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend   then numbers of chains that were met
-- Answer: {0, findings, the keys of chains that are still not named}
local freed, strays = namespace .. 'freed', {}
local length = call('LLEN', freed)
if length > MOST_IN_ONE_STEP then
    note('notChecked', 'whether all chains are named: ' .. length .. ' are')
    return {'0', report(), strays}
end
local isNamed = {}
for from = 0, length - 1, 1000 do
    for _, record in ipairs(call('LRANGE', freed, from, from + 999)) do
        if #record >= 6 then isNamed[unpackBytes('>I6', record)] = true end
    end
end
for i = 2, #ARGV do
    local number, key = tonumber(ARGV[i]), namespace .. 'chain:' .. ARGV[i]
    local first = number and not isNamed[number] and redis.pcall('LINDEX', key, 0)
    local job = type(first) == 'string' and read(first)
    if job and finds('chainNotNamed', nameOf(job.id)) then
        call('RPUSH', freed, pack('>I6BI6I6', number, ORPHANED, now, now) .. job.id)
        wake(job.queue, 1)
    elseif type(first) == 'string' then
        if not job then note('notChecked', 'a chain of jobs that only a newer version can read') end
        strays[#strays + 1] = key
    end
end
return {'0', report(), strays}
