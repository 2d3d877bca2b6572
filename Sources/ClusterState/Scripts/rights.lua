-- Which of the commands that the other scripts call this user may not: whoever made a user with too narrow a rule hears of all that is
-- missing at once, and before a script that is refused on its way has left half a step behind. Any answer but a refusal means that the
-- user may. Nothing is changed: what writes is called on a key that is not there, or on a key of another kind.
--
-- KEYS  1 the schema's key, a string   2 a key behind the same tag that never is there
-- ARGV  each command: how many words, and its words
-- Answer: what the user's rule lacks, as it would stand there
local lacking, at = {}, 1
-- Gone meanwhile: then it is no key of another kind to try on.
if redis.pcall('EXISTS', KEYS[1]) == 0 then return lacking end
while at <= #ARGV do
    local last = at + ARGV[at]
    local answer = redis.pcall(unpack(ARGV, at + 1, last))
    local refusal = type(answer) == 'table' and answer.err
    if refusal and (refusal:find('^NOPERM') or refusal:find("user executing the script can't", 1, true)) then
        lacking[#lacking + 1] = refusal:find('channel', 1, true) and '&' .. KEYS[2]:match('^{.*}') .. '*' or '+' .. ARGV[at + 1]:lower()
    end
    at = last + 1
end
return lacking
