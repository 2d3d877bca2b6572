/* exchange.lua and acquire.lua, and what the calling process learns. */

/* The process goes on as another incarnation. After a crash it knows nothing; otherwise its transfers go on. */
inline restart(p, isCrash) {
    incarnation[p] = incarnations;
    incarnations++;
    assert(incarnations <= INCARNATIONS);
    isPending[p] = false;
    k = 0;
    do
    :: k < URLS ->
        KNOWS(p, k) = (isCrash || KNOWS(p, k) == NOTHING || KNOWS(p, k) == GIVEN || KNOWS(p, k) == UNKNOWN -> NOTHING : LATE);
        if
        :: KNOWS(p, k) == NOTHING -> KNOWN_TOKEN(p, k) = 0
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < JOBS -> KNOWS_JOB(p, k) = NOTHING; KNOWN_JOB_TOKEN(p, k) = 0; k++
    :: else -> break
    od
}

/* The answer has come, or will never come. */
inline learn(p, given, sending) {
    k = 0;
    do
    :: k < URLS ->
        KNOWS(p, k) = (KNOWS(p, k) == GIVEN -> given : (KNOWS(p, k) == SENT -> sending : KNOWS(p, k)));
        KNOWN_TOKEN(p, k) = (KNOWS(p, k) == NOTHING -> 0 : KNOWN_TOKEN(p, k));
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < JOBS ->
        KNOWS_JOB(p, k) = (KNOWS_JOB(p, k) == GIVEN -> given : (KNOWS_JOB(p, k) == SENT -> sending : KNOWS_JOB(p, k)));
        KNOWN_JOB_TOKEN(p, k) = (KNOWS_JOB(p, k) == NOTHING -> 0 : KNOWN_JOB_TOKEN(p, k));
        k++
    :: else -> break
    od
}

inline settleAll() {
    u = 0;
    do
    :: u < URLS ->
        if
        :: sent[u] != 0 ->
            form = sent[u];
            sent[u] = 0;
            x0 = KNOWN_TOKEN(p, u);
            printf(" lock:%d,%d,%d", u, x0, form);
            settleLock(u, x0);
            printf(",%d", verdict);
            KNOWS(p, u) = SENT
        :: else
        fi;
        u++
    :: else -> break
    od;
    j = 0;
    do
    :: j < JOBS ->
        if
        :: sentJob[j] != 0 ->
            form = sentJob[j];
            sentJob[j] = 0;
            x0 = KNOWN_JOB_TOKEN(p, j);
            printf(" job:%d,%d,%d", j, x0, form);
            settleDelivery(j, x0);
            printf(",%d", verdict);
            KNOWS_JOB(p, j) = SENT
        :: else
        fi;
        j++
    :: else -> break
    od
}

/* What the process holds without knowing of it goes back, uncharged. */
inline takeBackUnknown() {
    u = 0;
    do
    :: u < URLS ->
        if
        :: KNOWS(p, u) == UNKNOWN ->
            if
            :: (lock[u].kind == L || lock[u].kind == A) && lock[u].owner == inc -> takeBackLock(u, false)
            :: else
            fi;
            KNOWS(p, u) = NOTHING; KNOWN_TOKEN(p, u) = 0
        :: else
        fi;
        u++
    :: else -> break
    od;
    j = 0;
    do
    :: j < JOBS ->
        if
        :: KNOWS_JOB(p, j) == UNKNOWN ->
            if
            :: deliveredTo[j] == inc + 1 -> takeBackDelivery(j)
            :: else
            fi;
            KNOWS_JOB(p, j) = NOTHING; KNOWN_JOB_TOKEN(p, j) = 0
        :: else
        fi;
        j++
    :: else -> break
    od
}

inline exchange() {
    p = who; inc = incarnation[p];
    wanted = askedFor; most = askedFor; mostBesides = 2 * askedFor;
    handed = 0; fromReady = 0; isMore = false; isHeldBack = false; isSpent = false; isDue = false;
    limit = LIMIT;
    newLease(inc);
    printf("\nexchange process=%d incarnation=%d wanted=%d names=%d lost=%d sent", p, inc, askedFor, names, isReplyLost);
    settleAll();
    printf(" given");
    if
    :: p != CALLER ->
        q = QUEUE_OF_WORKER(p);
        weigh(inc);
        if
        :: weight >= 9 -> most = 0; wanted = 0; isHeldBack = true
        :: else
        fi
    :: else
    fi;
    if
    :: names -> takeBackUnknown()
    :: else
    fi;
    takeBackEnded();
    if
    :: p != CALLER ->
        q = QUEUE_OF_WORKER(p);
        k = 0;
        do
        :: k < HOSTS ->
            if
            :: changed[k] && host[k].w1 == q + 1 -> freed[k] = true; isDue = true
            :: else
            fi;
            k++
        :: else -> break
        od;
        isHandingOut = most > 0
    :: else
    fi
}

inline finishExchange() {
    saveHosts();
    if
    :: p != CALLER -> ruleOfOrder()
    :: else
    fi;
    printf(" heldBack=%d more=%d", isHeldBack, isMore);
    if
    :: isReplyLost -> isPending[p] = true; losses++
    :: else -> learn(p, HOLDS, NOTHING)
    fi
}

inline repeat() {
    p = who; inc = incarnation[p];
    newLease(inc);
    printf("\nrepeat process=%d incarnation=%d given", p, inc);
    k = 0;
    do
    :: k < URLS ->
        if
        :: KNOWS(p, k) == GIVEN -> printf(" L%d,%d", lock[k].job, KNOWN_TOKEN(p, k))
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < JOBS ->
        if
        :: KNOWS_JOB(p, k) == GIVEN -> printf(" D%d,%d", k, KNOWN_JOB_TOKEN(p, k))
        :: else
        fi;
        k++
    :: else -> break
    od;
    isPending[p] = false;
    learn(p, HOLDS, NOTHING)
}

inline acquire() {
    p = CALLER; inc = incarnation[p];
    limit = NO_LIMIT;
    printf("\nacquire incarnation=%d url=%d lost=%d again=%d answer=", inc, url, isReplyLost, KNOWS(p, url) == GIVEN);
    if
    :: outcome[url] != 0 ->
        if
        :: outcome[url] == 1 -> printf("fresh")
        :: else -> printf("negative")
        fi
    :: else ->
        takeBackEnded();
        if
        :: (lock[url].kind == L || lock[url].kind == A) && (lease[lock[url].owner] <= tick || takenBack[lock[url].owner]) -> takeBackLock(url, true)
        :: else
        fi;
        if
        :: lock[url].kind == A && lock[url].owner == inc && KNOWS(p, url) == GIVEN ->
            printf("leased");
            KNOWS(p, url) = (isReplyLost -> GIVEN : HOLDS)
        :: (lock[url].kind == L || lock[url].kind == A) && !(lock[url].kind == A && lock[url].owner == inc && KNOWS(p, url) == GIVEN) -> printf("busy")
        :: (lock[url].kind == FREE || lock[url].kind == W) && lock[url].failed -> printf("waits")
        :: else ->
            printf("leased");
            lastToken[url]++;
            lock[url].kind = A; lock[url].owner = inc; lock[url].token = lastToken[url]; lock[url].began = 0;
            KNOWS(p, url) = (isReplyLost -> GIVEN : HOLDS);
            KNOWN_TOKEN(p, url) = lastToken[url];
            newLease(inc)
        fi;
        saveHosts()
    fi;
    losses = losses + isReplyLost
}

