-- The jobs of a list, a part at a time, from its head on.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the list   2 where to begin, 0 at first   3 how many elements to look at   4 a host, or nothing for all   5 how many jobs at
--       most   6 whether only their number is asked for
-- Answer: {queue time, where to go on or -1, how many jobs, then each}
local key = keyOf(ARGV[1])
local from, most, isCount = tonumber(ARGV[2]), tonumber(ARGV[5]), ARGV[6] == '1'
local elements = call('LRANGE', key, from, from + ARGV[3] - 1)
local next = #elements < tonumber(ARGV[3]) and -1 or from + #elements
local answer, number = {now, next, 0}, 0
for _, job in ipairs(jobsAmong(elements, headingAt(key, from))) do
    if isAsked(job, ARGV[4]) then
        if number == most then
            answer[2] = from + job.at - 1
            break
        end
        number = number + 1
        if not isCount then answer[#answer + 1] = written(job) end
    end
end
answer[3] = number
return answer
