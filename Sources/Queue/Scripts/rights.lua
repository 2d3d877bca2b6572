-- Which of the commands that the other scripts call this user may not: whoever made a user with too narrow a rule hears of all that is
-- missing at once, and before a script that is refused on its way has left half a step behind. Any answer but a refusal means that the
-- user may. Nothing is changed: what writes is called on a key that is not there, or on a key of another kind.
--
-- KEYS  1 the schema's key, which holds a string, or a key that this script makes and removes   2 a key behind the same tag that never is there
-- ARGV  1 'make' for a first key that is made and removed here   then each command: how many words, and its words
-- Answer: what the user's rule lacks, as it would stand there
local lacking, at = {}, 2
local function try(...)
    local answer = redis.pcall(...)
    local refusal = type(answer) == 'table' and answer.err
    if refusal and (refusal:find('^NOPERM') or refusal:find("user executing the script can't", 1, true)) then
        lacking[#lacking + 1] = refusal:find('channel', 1, true) and '&' .. KEYS[2]:match('^{.*}') .. '*' or '+' .. select(1, ...):lower()
    end
end
if ARGV[1] == 'make' then try('SET', KEYS[1], '', 'PX', 1000) end
-- Gone meanwhile, or not made: then it is no key of another kind to try on.
if redis.pcall('EXISTS', KEYS[1]) == 0 then return lacking end
while at <= #ARGV do
    local last = at + ARGV[at]
    try(unpack(ARGV, at + 1, last))
    at = last + 1
end
if ARGV[1] == 'make' then redis.pcall('DEL', KEYS[1]) end
return lacking
