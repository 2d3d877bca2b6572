/*
 * What lies in Redis, and what each process knows. The names are those of Sources/Queue/Scripts.
 *
 * Time goes in ticks of 30 s. A score, as in a sorted set of timers, is four times the tick and the number of quarter seconds behind it.
 * A lease is two ticks. A tick is also how long a retry waits, and how long a full host is left alone. A host that is due is so by its needs
 * earlier, which are too short for a score: NEEDS_H has them, as the number of its elements aside.
 */
#define NOW (tick * 4)
#define QUARTER 1
#define NEXT_TICK (NOW + 4)
#define NEVER 254
#define NONE 255
#define LEASE 2

#ifndef LIMIT
#define LIMIT 1 /* requests that a host may have in flight */
#endif
#define NO_LIMIT 100 /* a script that starts no request knows no limit */

#define URLS 2
#define HOSTS 2
#define QUEUES 2
#define FOLLOWERS(q, u) followers[(q) * URLS + (u)]
#define ASIDE(q, h) aside[(q) * HOSTS + (h)]
#define TIMER_U(q, u) timerU[(q) * URLS + (u)]
#define TIMER_H(q, h) timerH[(q) * HOSTS + (h)]
#define NEEDS_H(q, h) needsH[(q) * HOSTS + (h)]

/* The kinds of a lock, and the flags of a follower: how it is counted. */
#define FREE 0
#define L 1
#define A 2
#define W 3
#define PARKED 0
#define RETRIED 10
#define BACK 20
#define JOB(x) ((x) % 10)
#define FLAG(x) ((x) - JOB(x))
/* An element of a list aside is a job, or a URL to carry on. */
#define URL(u) (100 + (u))

/* The forms of an outcome, as in settle.lua. */
#define FETCHED 1
#define FAIL 3
#define RETRY 4
#define BACKED 6
#define DELIVERED 7
#define MISSING 8
#define LOST 0
#define SETTLED 1
#define FENCED 2

typedef Lock {
    byte kind; byte owner; byte token; byte job; byte crashes; byte failures; byte began;
    bool suspect; bool noPlace; bool failed; /* failed: the text of a failure is kept */
    byte first; byte second /* the queues that follow the URL, in their order, from 1; 0 is nobody */
}
typedef Host {
    byte running; byte offered;
    byte w1; byte w2; byte w3 /* who waits, in the order of the turns: a queue from 1, or LONE */
}
typedef Counters { byte enqueued; byte done; byte failed; byte atWork; byte parked; byte delayed; byte retried; byte crashed; byte fenced }
#define LONE 3

byte tick = 1;
Lock lock[URLS];
Host host[HOSTS];
Counters count[QUEUES];
byte outcome[URLS];      /* 0 none, 1 a page, 2 a failure */
byte outcomeToken[URLS];
byte lastToken[URLS];    /* a counter for each URL stands for the one counter of the partition */
chan ready[QUEUES] = [JOBS] of { byte };
chan followers[QUEUES * URLS] = [JOBS] of { byte };
chan aside[QUEUES * HOSTS] = [JOBS + URLS + 1] of { byte };
chan lone[QUEUES] = [URLS] of { byte };
byte timerU[QUEUES * URLS] = NONE;
byte timerH[QUEUES * HOSTS] = NONE;
byte needsH[QUEUES * HOSTS];
bool timerLone[QUEUES];
byte alone[QUEUES];      /* the incarnation, from 1, that takes no more jobs */
byte lease[INCARNATIONS];   /* the tick at which it ends; 0 there was none */
bool takenBack[INCARNATIONS];
byte deliveredTo[JOBS];  /* the incarnation, from 1, that holds the job only to deliver it */
byte deliveryToken[JOBS];

/* What the processes know. A process is a worker of a queue, or the caller, which has none. */
#define PROCESSES (WORKERS + 1)
#define CALLER WORKERS
byte incarnation[PROCESSES];
bool isPending[PROCESSES];  /* its last exchange has run, and the answer was lost */
byte knownLock[PROCESSES * URLS];
byte knownToken[PROCESSES * URLS];
byte knownDelivery[PROCESSES * JOBS];
byte knownDeliveryToken[PROCESSES * JOBS];
#define KNOWS(p, u) knownLock[(p) * URLS + (u)]
#define KNOWN_TOKEN(p, u) knownToken[(p) * URLS + (u)]
#define KNOWS_JOB(p, j) knownDelivery[(p) * JOBS + (j)]
#define KNOWN_JOB_TOKEN(p, j) knownDeliveryToken[(p) * JOBS + (j)]
/* What a process knows of something that it was given. */
#define NOTHING 0
#define HOLDS 1
#define GIVEN 2       /* in the pending exchange */
#define UNKNOWN 3     /* in an exchange that it gave up repeating */
#define SENT 4        /* its outcome was in the pending exchange */
#define SEND_AGAIN 5  /* its outcome was in an exchange that it gave up repeating */
#define LATE 6        /* its incarnation has ended since */

byte enqueuedJobs;
byte incarnations;
byte ends[JOBS];      /* how often each job has ended */
byte missing[URLS];   /* bodies that were there no more */
byte fetches[URLS];   /* fetches whose outcome was accepted */

/* Of one call; never between two. */
hidden byte limit, v, jobsAside, room, i, k, n, t, x, h, u, j, q, p, inc, goal, size, seen, share, earlier, beforeDue, beforeAside, wanted, most, mostBesides, handed, weight, score, form, verdict, order1;
hidden byte visits[4];
hidden short due[HOSTS];
hidden byte needs[HOSTS];
hidden byte rooms[HOSTS];
hidden byte picked[JOBS];
hidden byte fullJobs[JOBS];
hidden byte pickedCount, fullCount, fromReady;
hidden byte isReady, isDue, isDone, isMore, isHeldBack, isSpent, stop, isHandingOut, isEmpty;
hidden byte changed[HOSTS];
hidden byte freed[HOSTS];
