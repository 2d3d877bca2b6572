-- Which of the commands that the other scripts call this user may not: so that whoever made a user with too narrow a rule hears of all
-- that is missing at once, and before a script that is refused on its way has left half a step behind. The commands of those who
-- look after queues, and of the blob store, are left out: not every user has to have them.
--
-- Nothing is changed. What writes is called so that it cannot: on a key that is not there, with arguments that are wrong, or on a key
-- of another kind. Any answer but a refusal means that the user may.
--
-- KEYS[1]  the schema's key, a string
-- KEYS[2]  a key behind the same tag that never is there
-- answers what the user's rule lacks, as it would stand there
local TEXT, NONE = KEYS[1], KEYS[2]

local lacking = {}

local function isRefused(answer)
    return type(answer) == 'table' and answer.err and (answer.err:find("^NOPERM") or answer.err:find("user executing the script can't", 1, true))
end

local function try(command, ...)
    local answer = redis.pcall(command, ...)
    if not isRefused(answer) then return answer end
    local isChannel = answer.err:find('channel', 1, true)
    lacking[#lacking + 1] = isChannel and '&' .. NONE:match('^{.*}') .. '*' or '+' .. command:lower()
end

-- Gone meanwhile: then it is no key of another kind to try on.
local there = try('EXISTS', TEXT)
if there == 0 then return {} end
if there then
    try('LPUSH', TEXT, '')
    try('RPUSH', TEXT, '')
    try('SADD', TEXT, '')
    try('SETNX', TEXT, '')
end
try('DEL', NONE)
try('GET', NONE)
try('HDEL', NONE, '')
try('HGET', NONE, '')
try('HINCRBY', NONE, '', 'no number')
try('HLEN', NONE)
try('HMGET', NONE, '')
try('HSCAN', NONE, 0)
try('HSET', NONE, 'field', 'value', 'field without one')
try('LINDEX', NONE, 0)
try('LLEN', NONE)
try('LPOP', NONE)
try('LRANGE', NONE, 0, 0)
try('LTRIM', NONE, 0, 0)
try('MGET', NONE)
try('MSET', NONE, 'value', NONE)
try('MSETNX', NONE, 'value', NONE)
try('PEXPIRE', NONE, 1)
try('PUBLISH', NONE, '')
try('RENAME', NONE, NONE)
try('SCARD', NONE)
try('SET', NONE, '', 'XX')
try('SMEMBERS', NONE)
try('TIME')
try('UNLINK', NONE)
try('ZADD', NONE, 'XX', 0, '')
try('ZCARD', NONE)
try('ZMSCORE', NONE, '')
try('ZPOPMIN', NONE)
try('ZRANGE', NONE, 0, 0)
try('ZREM', NONE, '')
try('ZREMRANGEBYRANK', NONE, 0, 0)
try('ZSCORE', NONE, '')
return lacking
