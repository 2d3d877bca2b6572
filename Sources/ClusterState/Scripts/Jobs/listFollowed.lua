-- The lists in which jobs wait for another's fetch, a part at a time: first those of flights, then those whose flight has ended.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to go on among the flights, 0 at first, or nothing when they are through   2 where to go on among the others
-- Answer: {where to go on among the flights, or nothing; where among the others, or -1; then the lists}
local LOOKS = 500
if ARGV[1] ~= '' then
    local page = call('HSCAN', leases, ARGV[1], 'COUNT', LOOKS)
    local answer = {page[1] == '0' and '' or page[1], 0}
    for i = 2, #page[2], 2 do
        local flight = page[2][i]
        local kind = flight:sub(1, 1)
        local job = kind == 'J' and read(flight, 8)
        local id = job and job.id or (kind == 'A' or kind == 'W') and flight:sub(8, 23)
        if id and call('EXISTS', namespace .. 'parked:' .. id) == 1 then answer[#answer + 1] = 'parked:' .. id end
    end
    return answer
end
local from = tonumber(ARGV[2])
local records = call('LRANGE', namespace .. 'freed', from, from + LOOKS - 1)
local answer = {'', #records < LOOKS and -1 or from + LOOKS}
for _, record in ipairs(records) do
    if #record >= 6 then answer[#answer + 1] = string.format('chain:%.0f', (unpackBytes('>I6', record))) end
end
return answer
