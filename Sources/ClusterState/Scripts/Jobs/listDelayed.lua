-- Jobs that wait for a time, the first to be due first, a part at a time.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to begin, 0 at first   2 how many to look at   3 a host, or nothing for all   4 how many at most   5 whether only
--       their number is asked for
-- Answer: {queue time, where to go on or -1, how many jobs, then each behind when it is due}
local from, looks, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local found = call('ZRANGE', ofQueue(queue, 'later'), from, from + looks - 1, 'WITHSCORES')
local answer, number = {now, #found < looks * 2 and -1 or from + looks, 0}, 0
for i = 1, #found, 2 do
    local job = read(found[i], 17)
    if job and isAsked(job, ARGV[3]) then
        if number == most then
            answer[2] = from + (i - 1) / 2
            break
        end
        number = number + 1
        if ARGV[5] ~= '1' then answer[#answer + 1], answer[#answer + 2] = tonumber(found[i + 1]), found[i]:sub(17) end
    end
end
answer[3] = number
return answer
