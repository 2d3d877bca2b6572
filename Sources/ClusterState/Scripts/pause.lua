-- Pauses a queue, whose jobs then wait, or lets it go on.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 whether to pause
-- Answer: whether it was paused before
local queue = KEYS[2]:sub(#namespace + 3, -7)
local was = call('HGET', KEYS[2], 'paused') == '1'
writeAlsoWhenFull()
if ARGV[1] == '1' then
    call('HSET', KEYS[2], 'paused', 1)
else
    call('HDEL', KEYS[2], 'paused')
    wake(queue, MOST_WOKEN)
end
return was and 1 or 0
