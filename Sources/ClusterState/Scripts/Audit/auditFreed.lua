-- Looks over a part of `freed`: what it names is there.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend   2 where to go on, 0 at first
-- Answer: {where to go on, 0 at the end, findings}
local RECORDS_AT_ONCE, freed, from = 500, namespace .. 'freed', tonumber(ARGV[2])
local length = call('LLEN', freed)
if length > MOST_IN_ONE_STEP then
    note('notChecked', 'the chains that are named: ' .. length)
    return {'0', report()}
end
local records, dropped = call('LRANGE', freed, from, from + RECORDS_AT_ONCE - 1), 0
for i, record in ipairs(records) do
    local isNone = #record < 19 or call('EXISTS', namespace .. 'chain:' .. unpackBytes('>I6', record)) == 0
    if isNone and finds('freedWithoutChain', #record < 19 and 'a record cut short' or nameOf(record:sub(20))) then
        call('LSET', freed, from + i - 1, '')
        dropped = dropped + 1
    end
end
if dropped > 0 then call('LREM', freed, 0, '') end
local isEnd = #records < RECORDS_AT_ONCE
return {isEnd and '0' or tostring(from + #records - dropped), report()}
