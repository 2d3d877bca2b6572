-- Which of the commands that the other scripts call this user may not: whoever made a user with too narrow a rule hears of all that is
-- missing at once, and before a script that is refused on its way has left half a step behind. The commands of those who look after
-- queues, and of the blob store, are left out: not every user has to have them.
--
-- Nothing is changed. What writes is called so that it cannot: on a key that is not there, or on a key of another kind. Any answer but a
-- refusal means that the user may.
--
-- KEYS  1 the schema's key, a string   2 a key behind the same tag that never is there
-- Answer: what the user's rule lacks, as it would stand there
local TEXT, NONE = KEYS[1], KEYS[2]
local CALLS = {
    {'TIME', {}},
    {'DEL EXISTS GET HGETALL HLEN HRANDFIELD LLEN LPOP MGET UNLINK ZCARD ZPOPMIN', {NONE}},
    {'HDEL HEXISTS HGET HMGET PUBLISH ZREM ZSCORE', {NONE, ''}},
    {'HSCAN LINDEX', {NONE, 0}},
    {'LRANGE LTRIM ZRANGE ZREMRANGEBYRANK', {NONE, 0, 0}},
    {'HINCRBY HSET HSETNX LPUSH LSET RPUSH ZADD', {TEXT, 0, ''}},
    {'SET', {NONE, '', 'XX'}},
    {'SETNX', {TEXT, ''}},
}
-- Gone meanwhile: then it is no key of another kind to try on.
if redis.pcall('EXISTS', TEXT) == 0 then return {} end
local lacking = {}
for _, one in ipairs(CALLS) do
    for command in one[1]:gmatch('%u+') do
        local answer = redis.pcall(command, unpack(one[2]))
        local refusal = type(answer) == 'table' and answer.err
        if refusal and (refusal:find('^NOPERM') or refusal:find("user executing the script can't", 1, true)) then
            lacking[#lacking + 1] = refusal:find('channel', 1, true) and '&' .. NONE:match('^{.*}') .. '*' or '+' .. command:lower()
        end
    end
end
return lacking
