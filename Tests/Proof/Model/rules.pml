/* The rules, which hold after each call. A rule that is broken ends the search with a schedule that leads there. */

inline rules() {
    /* Each accepted job is in one place: it waits, is held, or has ended. It ends once. */
    n = 0; jobsAside = 0; j = 0;
    do
    :: j < enqueuedJobs ->
        q = QUEUE_OF(j); u = URL_OF(j);
        k = (ready[q]??[eval(j)] -> 1 : 0) + (ASIDE(q, HOST_OF(u))??[eval(j)] -> 1 : 0) +
            (FOLLOWERS(q, u)??[eval(j)] || FOLLOWERS(q, u)??[eval(j + RETRIED)] || FOLLOWERS(q, u)??[eval(j + BACK)] -> 1 : 0) +
            (lock[u].kind == L && lock[u].job == j -> 1 : 0) + (deliveredTo[j] != 0 -> 1 : 0) + ends[j];
        assert(k == 1);
        n = n + ends[j] + (deliveredTo[j] != 0 -> 1 : 0);
        jobsAside = jobsAside + (ASIDE(q, HOST_OF(u))??[eval(j)] -> 1 : 0);
        j++
    :: else -> break
    od;
    /* And each list has nothing else. A URL may stand aside at its host more than once. */
    q = 0;
    do
    :: q < QUEUES ->
        n = n + len(ready[q]) + len(FOLLOWERS(q, 0)) + len(FOLLOWERS(q, 1));
        h = 0;
        do
        :: h < HOSTS ->
            /* What stands aside at a host is looked at again. */
            assert(len(ASIDE(q, h)) == 0 || TIMER_H(q, h) <= NEXT_TICK);
            h++
        :: else -> break
        od;
        rulesOfQueue();
        q++
    :: else -> break
    od;
    u = 0;
    do
    :: u < URLS -> n = n + (lock[u].kind == L -> 1 : 0); rulesOfURL(); u++
    :: else -> break
    od;
    assert(n + jobsAside == enqueuedJobs);
    /* A host counts the requests that it has. */
    h = 0;
    do
    :: h < HOSTS ->
        k = 0; u = 0;
        do
        :: u < URLS -> k = k + (lock[u].kind == L && !lock[u].noPlace && HOST_OF(u) == h -> 1 : 0); u++
        :: else -> break
        od;
        assert(host[h].running == k && k <= LIMIT);
        h++
    :: else -> break
    od
}

/* Counters agree with what they count. */
inline rulesOfQueue() {
    i = 0; size = 0; goal = 0; seen = 0; j = 0;
    do
    :: j < enqueuedJobs ->
        if
        :: QUEUE_OF(j) == q ->
            seen++;
            i = i + ends[j];
            size = size + (lock[URL_OF(j)].kind == L && lock[URL_OF(j)].job == j -> 1 : 0) + (deliveredTo[j] != 0 -> 1 : 0);
            goal = goal + (FOLLOWERS(q, URL_OF(j))??[eval(j)] -> 1 : 0) + (FOLLOWERS(q, URL_OF(j))??[eval(j + RETRIED)] -> 16 : 0)
        :: else
        fi;
        j++
    :: else -> break
    od;
    assert(count[q].enqueued == seen && count[q].done + count[q].failed == i && count[q].atWork == size);
    assert(count[q].parked == goal % 16 && count[q].delayed == goal / 16)
}

inline rulesOfURL() {
    /* While a process' lease lives, a URL that it fetches is its own: nobody else was given it. */
    p = 0;
    do
    :: p < PROCESSES ->
        assert(KNOWS(p, u) != HOLDS || lease[incarnation[p]] <= tick ||
            (lock[u].kind == (p == CALLER -> A : L) && lock[u].owner == incarnation[p] && lock[u].token == KNOWN_TOKEN(p, u)));
        p++
    :: else -> break
    od;
    j = 0;
    do
    :: j < QUEUES ->
        /* A follower is not forgotten: its queue looks at the URL at a time, or is told by the lock, or the URL stands aside. */
        assert(len(FOLLOWERS(j, u)) == 0 || TIMER_U(j, u) <= NEXT_TICK || (TIMER_U(j, u) == NEVER &&
            (ASIDE(j, HOST_OF(u))??[eval(100 + u)] || lone[j]??[eval(u)] || (lock[u].kind != FREE && lock[u].kind != W && IS_INTERESTED(u, j)))));
        /* A job that came back goes before jobs that never ran. */
        k = len(FOLLOWERS(j, u)); t = 0;
        do
        :: k > 0 ->
            FOLLOWERS(j, u)?x0; FOLLOWERS(j, u)!x0;
            assert(t == 0 || FLAG(x0) == PARKED);
            t = (FLAG(x0) == PARKED -> 1 : t);
            k--
        :: else -> break
        od;
        j++
    :: else -> break
    od
}

/* A job that never ran was started, and a URL that had come back could have been. */
inline ruleOfOrder() {
    u = 0;
    do
    :: u < URLS && fromReady > 0 ->
        if
        :: TIMER_U(q, u) <= NOW && len(FOLLOWERS(q, u)) > 0 && !HAS_OUTCOME(u) && lock[u].kind == W && lock[u].began <= NOW ->
            FOLLOWERS(q, u)?<x0>;
            assert(FLAG(x0) == PARKED || host[HOST_OF(u)].running >= limit || (host[HOST_OF(u)].w1 != 0 && host[HOST_OF(u)].w1 != q + 1))
        :: else
        fi;
        u++
    :: else -> break
    od
}

#define WAITING(q) (len(ready[q]) + len(FOLLOWERS(q, 0)) + len(FOLLOWERS(q, 1)) + len(ASIDE(q, 0)) + len(ASIDE(q, 1)) + len(lone[q]))
#define HAS_TIMERS(q) (TIMER_U(q, 0) != NONE || TIMER_U(q, 1) != NONE || TIMER_H(q, 0) != NONE || TIMER_H(q, 1) != NONE)
#define IS_QUIET(q) (WAITING(q) + count[q].atWork == 0 && !HAS_TIMERS(q))
/* All accepted jobs have ended, and nothing is left of them. */
#define IS_AT_REST (IS_QUIET(0) && IS_QUIET(1) && lock[0].kind == FREE && lock[1].kind == FREE && host[0].running + host[1].running == 0)

/* The state, for the replay. */
inline tell() {
    printf("\nstate tick=%d\n", tick);
    u = 0;
    do
    :: u < URLS ->
        printf("lock %d %d %d %d %d %d %d %d %d %d %d %d %d\n", u, lock[u].kind, lock[u].owner, lock[u].token, lock[u].job, lock[u].crashes,
            lock[u].failures, lock[u].began, lock[u].suspect, lock[u].noPlace, lock[u].failed, lock[u].first, lock[u].second);
        printf("outcome %d %d %d\n", u, outcome[u], outcomeToken[u]);
        u++
    :: else -> break
    od;
    h = 0;
    do
    :: h < HOSTS ->
        printf("host %d %d %d %d %d %d\n", h, host[h].running, host[h].offered, host[h].w1, host[h].w2, host[h].w3);
        h++
    :: else -> break
    od;
    q = 0;
    do
    :: q < QUEUES ->
        printf("count %d %d %d %d %d %d %d %d %d %d %d\n", q, count[q].enqueued, count[q].done, count[q].failed, count[q].atWork, count[q].parked,
            count[q].delayed, count[q].retried, count[q].crashed, count[q].fenced, alone[q]);
        printf("timers %d %d %d %d %d %d %d %d\n", q, TIMER_U(q, 0), TIMER_U(q, 1), TIMER_H(q, 0), TIMER_H(q, 1), timerLone[q], NEEDS_H(q, 0), NEEDS_H(q, 1));
        printf("ready %d", q); tellList(ready[q]);
        printf("lone %d", q); tellList(lone[q]);
        u = 0;
        do
        :: u < URLS ->
            printf("followers %d %d", q, u); tellList(FOLLOWERS(q, u));
            printf("aside %d %d", q, u); tellList(ASIDE(q, u));
            u++
        :: else -> break
        od;
        q++
    :: else -> break
    od;
    i = 0;
    do
    :: i < INCARNATIONS -> printf("lease %d %d %d\n", i, lease[i], takenBack[i]); i++
    :: else -> break
    od;
    j = 0;
    do
    :: j < JOBS -> printf("delivery %d %d %d\n", j, deliveredTo[j], deliveryToken[j]); j++
    :: else -> break
    od;
    printf("end\n")
}

inline tellList(list) {
    k = len(list);
    do
    :: k > 0 -> list?x0; list!x0; printf(" %d", x0); k--
    :: else -> break
    od;
    printf("\n")
}
