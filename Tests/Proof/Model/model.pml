/*
 * The whole of the model: processes that enqueue, exchange, acquire, crash and lose answers, in any order.
 *
 * Each call to Redis is one step, because a script is. After any number of steps the fleet settles down (CLOSE): workers that live settle what
 * they have and ask for more, time goes on, and nothing else breaks. Then all accepted jobs must have ended.
 *
 * Scripts/proof says which configurations there are. It sets JOBS and WORKERS, and how often each kind of trouble may come: TICKS, RESTARTS,
 * LOSSES, RETRIES, BACKS, FAILS, ACQUIRES. JOB_QUEUES, JOB_URLS, URL_HOSTS and WORKER_QUEUES have a bit for each job, URL or worker.
 */
#define QUEUE_OF(j) ((JOB_QUEUES >> (j)) & 1)
#define URL_OF(j) ((JOB_URLS >> (j)) & 1)
#define HOST_OF(u) ((URL_HOSTS >> (u)) & 1)
#define QUEUE_OF_WORKER(p) ((WORKER_QUEUES >> (p)) & 1)
#ifndef FAULT
#define FAULT 0
#endif
#define INCARNATIONS (WORKERS + 1 + RESTARTS + WORKERS)

#include "state.pml"
#include "hosts.pml"
#include "locks.pml"
#include "settle.pml"
#include "handOut.pml"
#include "rules.pml"
#include "calls.pml"

mtype = { ENQUEUE, EXCHANGE, REPEAT, GIVE_UP, CRASH, TICK, ACQUIRE, CLOSE, WRITE };

/* How often trouble came. */
byte restarts, losses, retries, backs, fails, acquires;
/* What is chosen for the next call. */
mtype op;
byte who, url, askedFor, names, isReplyLost;
byte sent[URLS];
byte sentJob[JOBS];
#if FAULT == 4
byte unwritten[URLS];
byte unwrittenToken[URLS];
#endif

bool isClosing;
byte round, turn; /* while the fleet settles down */
hidden byte x0, isExchange;
#ifdef WALK
byte steps; /* a random walk is at least so long before the fleet settles down */
#endif
#define MOST_ROUNDS 16

#define IS_ENDED(p) (lease[incarnation[p]] != 0 && (lease[incarnation[p]] <= tick || takenBack[incarnation[p]]))
#define MAY_RESTART(p) (restarts < RESTARTS)
#define MAY_SEND(state) ((state) == HOLDS || (state) == SEND_AGAIN || (state) == LATE)

inline perform() {
    isHandingOut = false; isExchange = false;
    if
    :: op == ENQUEUE ->
        printf("\nenqueue job=%d", enqueuedJobs);
        ready[QUEUE_OF(enqueuedJobs)]!enqueuedJobs;
        count[QUEUE_OF(enqueuedJobs)].enqueued++;
        enqueuedJobs++
    :: (op == EXCHANGE || op == REPEAT || op == ACQUIRE) && IS_ENDED(who) ->
        printf("\nended process=%d incarnation=%d", who, incarnation[who]);
        restart(who, false);
        restarts = restarts + (isClosing -> 0 : 1);
        u = 0;
        do
        :: u < URLS -> sent[u] = 0; u++
        :: else -> break
        od;
        j = 0;
        do
        :: j < JOBS -> sentJob[j] = 0; j++
        :: else -> break
        od
    :: op == EXCHANGE && !IS_ENDED(who) -> isExchange = true; exchange()
    :: op == REPEAT && !IS_ENDED(who) -> repeat()
    :: op == ACQUIRE && !IS_ENDED(who) -> acquire()
    :: op == GIVE_UP -> printf("\ngiveUp process=%d", who); isPending[who] = false; learn(who, UNKNOWN, SEND_AGAIN)
    :: op == CRASH ->
        printf("\ncrash process=%d", who);
        restart(who, true);
        restarts++
#if FAULT == 4
        ; unwritten[0] = 0; unwritten[1] = 0
#endif
    :: op == TICK -> printf("\ntick"); tick++
    :: op == CLOSE -> printf("\nclose")
#if FAULT == 4
    :: op == WRITE -> printf("\nwrite url=%d", url); writeOutcome(url, unwrittenToken[url], unwritten[url] == 2); unwritten[url] = 0
#endif
    fi;
}

/* The next step while the fleet settles down: each worker in its turn, then a tick. */
inline chooseLast() {
    if
#if FAULT == 4
    :: unwritten[0] != 0 -> op = WRITE; url = 0
    :: unwritten[0] == 0 && unwritten[1] != 0 -> op = WRITE; url = 1
    :: unwritten[0] + unwritten[1] == 0 && turn == WORKERS -> op = TICK; turn = 0; round++; assert(round < MOST_ROUNDS)
#else
    :: turn == WORKERS -> op = TICK; turn = 0; round++; assert(round < MOST_ROUNDS)
#endif
    :: else ->
        who = turn; p = turn; askedFor = 2; isReplyLost = 0;
        if
        :: isPending[who] -> op = REPEAT
        :: else ->
            op = EXCHANGE;
            turn = (IS_ENDED(who) -> turn : turn + 1);
            names = 0;
            u = 0;
            do
            :: u < URLS ->
                sent[u] = (MAY_SEND(KNOWS(p, u)) -> (lock[u].crashes >= 3 -> FAIL : FETCHED) : 0);
                names = (KNOWS(p, u) == UNKNOWN -> 1 : names);
                u++
            :: else -> break
            od;
            j = 0;
            do
            :: j < JOBS ->
                sentJob[j] = (MAY_SEND(KNOWS_JOB(p, j)) -> (outcome[URL_OF(j)] == 2 -> FAIL : DELIVERED) : 0);
                names = (KNOWS_JOB(p, j) == UNKNOWN -> 1 : names);
                j++
            :: else -> break
            od
        fi
    fi
}

/* What a worker may send of a URL that it has. */
inline choose(u) {
    if
    :: sent[u] = 0
    :: MAY_SEND(KNOWS(who, u)) && (KNOWS(who, u) != HOLDS || lock[u].crashes < 3) -> sent[u] = FETCHED
    :: KNOWS(who, u) == HOLDS && (fails < FAILS || lock[u].crashes >= 3) -> sent[u] = FAIL; fails = fails + (lock[u].crashes >= 3 -> 0 : 1)
    :: KNOWS(who, u) == HOLDS && lock[u].crashes < 3 && retries < RETRIES -> sent[u] = RETRY; retries++
    :: KNOWS(who, u) == HOLDS && backs < BACKS -> sent[u] = BACKED; backs++
    fi
}

inline chooseJob(j) {
    if
    :: sentJob[j] = 0
    :: MAY_SEND(KNOWS_JOB(who, j)) -> sentJob[j] = (outcome[URL_OF(j)] == 2 -> FAIL : DELIVERED)
    :: KNOWS_JOB(who, j) == HOLDS && outcome[URL_OF(j)] == 1 && backs < BACKS -> sentJob[j] = MISSING; backs++
    :: KNOWS_JOB(who, j) == HOLDS && backs < BACKS -> sentJob[j] = BACKED; backs++
    fi
}

#define HAS_UNKNOWN(p) (KNOWS(p, 0) == UNKNOWN || KNOWS(p, 1) == UNKNOWN || KNOWS_JOB(p, 0) == UNKNOWN || KNOWS_JOB(p, 1) == UNKNOWN || KNOWS_JOB(p, JOBS - 1) == UNKNOWN)
#define HAS_SOMETHING(p) (KNOWS(p, 0) != NOTHING || KNOWS(p, 1) != NOTHING)

/* Of the random walks every other one crashes workers that have something. In the others leases end, and outcomes are late. */
#ifdef WALK
#define MAY_CRASH(p) ((WALK & 1) && HAS_SOMETHING(p))
#else
#define MAY_CRASH(p) true
#endif

active proctype Fleet() {
    atomic {
        k = 0;
        do
        :: k < PROCESSES -> incarnation[k] = k; k++
        :: else -> break
        od;
        incarnations = PROCESSES;
        k = 0
    }
next:
    atomic {
#ifdef WALK
        steps++;
#endif
        if
        :: enqueuedJobs < JOBS -> op = ENQUEUE
        :: enqueuedJobs > 0 ->
            op = EXCHANGE;
            if
            :: who = 0
            :: who = WORKERS - 1
#if ACQUIRES > 0
            :: HAS_SOMETHING(CALLER) && KNOWS(CALLER, 0) != GIVEN && KNOWS(CALLER, 1) != GIVEN -> who = CALLER
#endif
            fi;
            if
            :: isPending[who] ->
                if
                :: !IS_ENDED(who) || MAY_RESTART(who) -> op = REPEAT
                :: op = GIVE_UP
                fi
            :: !isPending[who] && IS_ENDED(who) && MAY_RESTART(who)
            :: !isPending[who] && IS_ENDED(who) && !MAY_RESTART(who) -> op = 0; who = 0; goto next
            :: !isPending[who] && !IS_ENDED(who) ->
                if
                :: who == CALLER
                :: who != CALLER -> askedFor = 1
                :: who != CALLER -> askedFor = 2
                :: who != CALLER && HAS_SOMETHING(who)
                fi;
                choose(0);
                choose(1);
                if
                :: who != CALLER ->
                    chooseJob(0);
                    chooseJob(1)
#if JOBS > 2
                    ; chooseJob(2)
#endif
#if JOBS > 3
                    ; chooseJob(3)
#endif
                :: else
                fi;
                if
                :: HAS_UNKNOWN(who) -> names = 1
                :: true
                fi;
                if
                :: losses < LOSSES && who != CALLER -> isReplyLost = 1
                :: true
                fi
            fi
        :: restarts < RESTARTS && enqueuedJobs > 0 ->
            op = CRASH;
            if
            :: MAY_CRASH(0) -> who = 0
            :: MAY_CRASH(WORKERS - 1) -> who = WORKERS - 1
#if ACQUIRES > 0
            :: HAS_SOMETHING(CALLER) -> who = CALLER
#endif
            :: else -> op = 0; goto next
            fi
        :: tick < 1 + TICKS && enqueuedJobs > 0 -> op = TICK
#if ACQUIRES > 0
        :: acquires < ACQUIRES && (!IS_ENDED(CALLER) || MAY_RESTART(CALLER)) ->
            op = ACQUIRE; who = CALLER; acquires++;
            if
            :: KNOWS(CALLER, 0) == NOTHING || KNOWS(CALLER, 0) == GIVEN -> url = 0
            :: KNOWS(CALLER, 1) == NOTHING || KNOWS(CALLER, 1) == GIVEN -> url = 1
            :: else -> op = 0; who = 0; acquires--; goto next
            fi;
            if
            :: losses < LOSSES -> isReplyLost = 1
            :: true
            fi
#endif
#if FAULT == 4
        :: unwritten[0] != 0 -> op = WRITE; url = 0
        :: unwritten[1] != 0 -> op = WRITE; url = 1
#endif
#ifdef WALK
        :: steps >= WALK -> op = CLOSE
#else
        :: op = CLOSE
#endif
        fi;
        isClosing = op == CLOSE;
        /* spin bounds the length of a d_step, so that one call is several. They are one step all the same. */
again_: true;
        d_step { perform(); skip };
        if
        :: isHandingOut -> handOut()
        :: else
        fi;
        if
        :: isExchange -> d_step { finishExchange(); skip }
        :: else
        fi;
        d_step { tell(); askedFor = 0; names = 0; isReplyLost = 0; url = 0; who = 0 };
        d_step { rules(); skip };
        if
        :: isClosing && !IS_AT_REST -> d_step { chooseLast(); skip }; goto again_
        :: else
        fi;
        op = 0; round = 0; turn = 0
    };
    if
    :: isClosing
    :: else -> goto next
    fi
}
