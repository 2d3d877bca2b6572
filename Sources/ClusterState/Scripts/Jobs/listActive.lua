-- Jobs that workers have on lease, a part at a time, in no order.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to go on, 0 at first   2 how many to look at, more or less   3 a host, or nothing for all   4 whether only their
--       number is asked for
-- Answer: {queue time, where to go on or 0, how many jobs, then each behind when it was handed out}
local page = call('HSCAN', leases, ARGV[1], 'COUNT', ARGV[2])
local answer, number = {now, page[1], 0}, 0
for i = 2, #page[2], 2 do
    local flight = page[2][i]
    local kind = flight:sub(1, 1)
    local job = (kind == 'J' or kind == 'C') and read(flight, 8)
    -- Also one of a batch that was cancelled: it is in flight all the same.
    if job and job.queue == queue and (ARGV[3] == '' or job.host == ARGV[3]) then
        number = number + 1
        if ARGV[4] ~= '1' then answer[#answer + 1], answer[#answer + 2] = (unpackBytes('>I6', flight, 2)), flight:sub(8) end
    end
end
answer[3] = number
return answer
