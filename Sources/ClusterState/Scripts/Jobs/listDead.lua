-- Given-up jobs, the latest first, a part at a time.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 where to begin, 0 at first   2 how many to look at   3 a host, or nothing for all   4 how many at most   5 whether only
--       their number is asked for   6 a class of errors, or nothing for all
-- Answer: {queue time, where to go on or -1, how many jobs, then each behind when it was given up and before what was said of it}
local from, looks, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local found = call('ZRANGE', ofQueue(queue, 'dead'), from, from + looks - 1, 'REV', 'WITHSCORES')
local answer, number = {now, #found < looks * 2 and -1 or from + looks, 0}, 0
for i = 1, #found, 2 do
    local job, reason = readDead(found[i])
    if job and (ARGV[3] == '' or job.host == ARGV[3]) and (ARGV[6] == '' or classOf(reason) == ARGV[6]) then
        if number == most then
            answer[2] = from + (i - 1) / 2
            break
        end
        number = number + 1
        if ARGV[5] ~= '1' then
            answer[#answer + 1], answer[#answer + 2], answer[#answer + 3] = tonumber(found[i + 1]), written(job), reason
        end
    end
end
answer[3] = number
return answer
