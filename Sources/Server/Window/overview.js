// The overview: how the queue stands, and which host is in trouble.

import { view } from './address.js'
import { change, get, live, mayChangeQueue } from './api.js'
import { progressCell } from './batches.js'
import { charts } from './charts.js'
import { atMost, keep, make, say, setText, table } from './elements.js'
import { ago, bytes, clock, count, duration, number, openJobs, percent, rate, states, unknown } from './words.js'

const failing = 0.5
const fewHosts = 12

// A host's trouble in a word, or null. The gravest one counts.
const trouble = host => {
  if (host.givenUp) return 'Given up'
  if (host.failureShare >= failing) return 'Failing'
  return host.restSeconds ? 'Resting' : null
}
const gravity = { 'Given up': 3, Failing: 2, Resting: 1 }

const until = seconds => (seconds ? `${clock(Date.now() + seconds * 1000)} (${duration(seconds)})` : '')

const badge = (cell, text, kind) => {
  if (!text) return ''
  if (cell.textContent !== text) cell.replaceChildren(make('span', { class: `badge ${kind}` }, text))
}

// A narrow screen has no column for the time until which a host rests, so the time stands below the word.
const showState = (host, cell) => {
  const word = trouble(host)
  if (!word) return 'Fine'
  if (cell.firstElementChild?.textContent !== word) {
    cell.replaceChildren(make('span', { class: `badge ${gravity[word] > 1 ? 'bad' : 'warn'}` }, word), make('small', { class: 'narrow' }))
  }
  setText(cell.lastChild, host.restSeconds ? `until ${clock(Date.now() + host.restSeconds * 1000)}` : '')
}

const hostLink = (cell, host) => {
  if (!cell.firstChild) cell.append(make('a', { href: view('jobs', { state: 'dead', host: host.name }) }, host.name))
}

const section = (title, id, ...children) => make('section', { 'aria-labelledby': id, class: id }, make('h2', { id }, title), ...children)

export const show = root => {
  const state = make('p', { class: 'lead' })
  const pause = make('button', { type: 'button', hidden: true })
  const troubles = make('section', { class: 'troubles', 'aria-label': 'Hosts in trouble', hidden: true })
  const tiles = make('ul', { class: 'tiles', 'aria-label': 'Jobs by state' })
  const lines = charts(status => ({ throughput: status.rate.donePerSecond, depth: openJobs(status.jobs) }))
  const totals = make('dl', { class: 'totals' })
  const empty = make('div', { class: 'empty', hidden: true },
    make('p', {}, 'This queue has no jobs yet. Add some from a terminal:'), make('pre', {}, make('code', {}, 'gannet enqueue -i urls.txt')))

  let showsAllHosts = false
  const hosts = table('Hosts', [
    { title: 'Host', isHeader: true, name: 'name', cell: (host, cell) => hostLink(cell, host) },
    { title: 'State', cell: showState },
    { title: 'In flight', number: true, wide: true, cell: host => number(host.inFlight) },
    { title: 'Limit', number: true, wide: true, cell: host => (host.limit === null ? 'none' : number(host.limit)) },
    { title: 'Ended/s', number: true, wide: true, cell: host => rate(host.endedPerSecond) },
    { title: 'Failed', number: true, cell: host => percent(host.failureShare) },
    { title: 'Average', number: true, wide: true, cell: host => duration(host.averageSeconds) },
    { title: 'Longest', number: true, wide: true, cell: host => (host.longestSeconds === null ? '' : duration(host.longestSeconds)) },
    { title: 'Resting until', number: true, wide: true, cell: host => until(host.restSeconds) },
  ], host => host.name)
  const moreHosts = make('button', { type: 'button', class: 'quiet', on: { click: () => {
    showsAllHosts = !showsAllHosts
    if (live.status) update(live.status)
  } } })
  const noHosts = make('p', { class: 'none' }, 'No host is busy.')

  // The same hosts as `gannet status` names while jobs wait for them.
  const hostStates = { 'probed': 'does not answer', 'given-up': 'is given up', 'rests': 'asked for a rest', 'paced': 'asks for time between requests' }
  const silentHosts = table('Hosts that keep jobs waiting', [
    { title: 'Waiting for', isHeader: true, cell: (host, cell) => {
      if (!cell.firstChild) cell.append(make('a', { href: view('jobs', { state: 'ready', host: host.host }) }, host.host))
    } },
    { title: 'State', cell: host => hostStates[host.state] ?? host.state },
    { title: 'Reason', wide: true, cell: host => (host.paceSeconds === null ? host.class ?? '' : `asks for ${duration(host.paceSeconds)} between requests (Crawl-delay or slow answers)`) },
    { title: 'Jobs', number: true, cell: host => (host.jobs === null ? '' : number(host.jobs)) },
    { title: 'Requests without an answer', number: true, wide: true, cell: host => number(host.failures) },
    { title: 'Next request', number: true, cell: host => (host.nextRequestSeconds === null ? '' : host.nextRequestSeconds > 0 ? `in ${duration(host.nextRequestSeconds)}` : 'now') },
    { title: 'Given up within', number: true, wide: true, cell: host => (host.givenUpWithinSeconds === null ? '' : duration(host.givenUpWithinSeconds)) },
  ], host => host.host)
  silentHosts.element.hidden = true

  const failures = table('Failures by class', [
    { title: 'Class', isHeader: true, cell: (failure, cell) => {
      if (!cell.firstChild) cell.append(make('a', { href: view('jobs', { state: 'dead', class: failure.class }) }, failure.class))
    } },
    { title: 'Jobs', number: true, cell: failure => number(failure.count) },
    { title: 'Share', name: 'bar', cell: (failure, cell) => {
      const bar = cell.firstChild ?? cell.appendChild(make('span', { class: 'bar' }, make('span', { class: 'unseen' })))
      bar.style.width = `${Math.max(1, failure.share * 100)}%`
      setText(bar.firstChild, percent(failure.share))
    } },
  ], failure => failure.class)
  const noFailures = make('p', { class: 'none' }, 'No job has failed.')

  // Hosts leave the list above soon after their last request. Here the ones stay whose jobs were given up.
  const deadHosts = table('Hosts of dead jobs', [
    { title: 'Host of dead jobs', isHeader: true, cell: (row, cell) => {
      if (!cell.firstChild) cell.append(make('a', { href: view('jobs', { state: 'dead', host: row.host, class: row.class }) }, row.host))
    } },
    { title: 'Class', cell: row => row.class },
    { title: 'Jobs', number: true, cell: row => `${row.isLeast ? '≥ ' : ''}${number(row.count)}` },
  ], row => `${row.host} ${row.class}`)
  deadHosts.element.hidden = true

  const workers = table('Workers', [
    { title: 'Worker', isHeader: true, name: 'name', cell: worker => (worker.host ? `${worker.host} · ${worker.pid ?? unknown}` : worker.id) },
    { title: 'State', cell: (worker, cell) => (worker.isTroubled ? badge(cell, worker.word, 'bad') : worker.word) },
    { title: 'Jobs', number: true, cell: worker => number(worker.active) },
    { title: 'Places', number: true, wide: true, cell: worker => number(worker.concurrency) },
    { title: 'Version', wide: true, cell: worker => worker.version ?? unknown },
    { title: 'Heartbeat', number: true, cell: worker => (worker.heartbeatSeconds !== null && worker.heartbeatSeconds < 3 ? 'now' : ago(worker.heartbeatSeconds)) },
  ], worker => worker.id)
  const noWorkers = make('div', { class: 'none' }, make('p', {}, 'No worker is running. Start one:'), make('pre', {}, make('code', {}, 'gannet work')))

  const batches = table('The latest batches', [
    { title: 'Batch', isHeader: true, name: 'name', cell: (batch, cell) => {
      if (!cell.firstChild) cell.append(make('a', { href: view('pictures', { batch: batch.batch }) }, batch.batch))
    } },
    { title: 'State', wide: true, cell: batch => batch.state },
    { title: 'Progress', name: 'progress', cell: progressCell },
    { title: 'Failed', number: true, cell: batch => number(batch.failed) },
    { title: 'Age', number: true, wide: true, cell: batch => duration(batch.ageSeconds) },
  ], batch => batch.batch)
  const noBatches = make('p', { class: 'none' }, 'No batch yet.')

  const parts = make('div', { class: 'parts', hidden: true },
    troubles, tiles, lines.element,
    section('Hosts', 'hosts', noHosts, hosts.element, moreHosts, silentHosts.element),
    make('div', { class: 'pair' },
      section('Failures by class', 'failures', noFailures, failures.element, deadHosts.element),
      section('Totals', 'totals', totals)),
    make('div', { class: 'pair' },
      section('Latest batches', 'batches', noBatches, batches.element, make('p', {}, make('a', { href: view('batches') }, 'All batches'))),
      section('Workers', 'workers', noWorkers, workers.element)))
  root.append(make('div', { class: 'title' }, make('h1', {}, 'Overview'), state, pause), empty, parts)

  const toggle = async () => {
    const isPaused = live.status?.paused
    pause.disabled = true
    try {
      await change('POST', isPaused ? '/v1/resume' : '/v1/pause')
      if (live.status) live.status = { ...live.status, paused: !isPaused }
      say(isPaused ? 'The queue goes on.' : 'The queue is paused. Requests in flight are finished.')
      if (live.status) update(live.status)
    } catch (error) { say(error.message) }
    pause.disabled = false
  }
  pause.addEventListener('click', toggle)

  const showTroubles = troubled => {
    const shown = troubled.filter(host => gravity[host.word] > 1)
    troubles.hidden = shown.length === 0
    const items = shown.slice(0, 3).map(host => ({ key: host.name, host }))
    if (shown.length > 3) items.push({ key: '', rest: shown.length - 3 })
    keep(troubles, items, item => item.key,
      item => (item.host ? make('p', {}, make('strong', {}, make('a', { href: view('jobs', { state: 'dead', host: item.host.name }) }, item.host.name)), ' ', make('span')) : make('p')),
      (element, { host, rest }) => {
        if (rest) return setText(element, `${count(rest, 'more host')} in trouble: see the hosts below.`)
        const word = host.givenUp ? 'is given up' : 'is failing'
        const resting = host.restSeconds ? ` It rests until ${until(host.restSeconds)}.` : ''
        setText(element.lastChild, `${word}: ${percent(host.failureShare)} of its latest requests failed.${resting}`)
      })
  }

  const lead = status => {
    if (status.paused) return 'Paused: no job starts until the queue is resumed.'
    const open = openJobs(status.jobs)
    if (open === 0) return 'All jobs have ended.'
    const words = [count(open, 'open job')]
    if (status.rate.donePerSecond !== null) words.push(`${rate(status.rate.donePerSecond)} per second`)
    if (status.rate.bytesPerSecond) words.push(`${bytes(status.rate.bytesPerSecond)}/s`)
    if (status.etaSeconds !== null) words.push(`${duration(status.etaSeconds)} left`)
    return words.join(' · ')
  }

  // A total without a word here shows under its own name. Rare ones show when there are any.
  const totalWords = {
    enqueued: 'Enqueued', done: 'Done', fetched: 'Fetched', revalidated: 'Not changed (304)', cached: 'From the cache', failed: 'Failed',
    cancelled: 'Cancelled', retried: 'Retried', crashed: 'Left by a crash', fenced: 'Results of late workers refused',
    doubleFetches: 'Fetched twice', bytes: 'Received', disallowed: 'Not permitted, of the failed',
  }
  const rareTotals = ['fenced', 'doubleFetches', 'disallowed']

  const showTotals = status => {
    const rows = Object.entries(status.totals).filter(([name, value]) => value || !rareTotals.includes(name))
      .map(([name, value]) => [totalWords[name] ?? name, name === 'bytes' ? bytes(value) : number(value)])
    keep(totals, rows, row => row[0], row => make('div', {}, make('dt', {}, row[0]), make('dd')), (element, row) => setText(element.lastChild, row[1]))
  }

  const latestBatches = atMost(5000, async () => {
    try {
      const { batches: list } = await get('/v1/batches', { limit: 6 })
      batches.set(list)
      batches.element.hidden = list.length === 0
      noBatches.hidden = list.length > 0
    } catch { /* The banner says that the server or Redis is away. */ }
  })

  const latestDeadHosts = atMost(5000, async () => {
    try {
      const { hosts: list, atLeast } = live.status?.jobs.dead ? await get('/v1/jobs/hosts') : { hosts: [], atLeast: false }
      deadHosts.set(list.slice(0, 6).map(row => ({ ...row, isLeast: atLeast })))
      deadHosts.element.hidden = list.length === 0
    } catch { /* The banner says that the server or Redis is away. */ }
  })

  // Hosts without trouble are ordered by their requests in flight. A row that jumps each second cannot be read, so the order stays for a while.
  let places = new Map()
  let rankedAt = -Infinity
  const rank = list => {
    const isOld = performance.now() - rankedAt > 30_000
    if (!isOld && list.every(host => places.has(host.name))) return
    const before = isOld ? new Map() : places
    const next = [...list].sort((one, other) => (before.get(one.name) ?? 1e9) - (before.get(other.name) ?? 1e9) || other.inFlight - one.inFlight || (one.name < other.name ? -1 : 1))
    places = new Map(next.map((host, place) => [host.name, place]))
    if (isOld) rankedAt = performance.now()
  }

  const update = status => {
    const isEmpty = status.totals.enqueued === 0 && openJobs(status.jobs) === 0 && status.jobs.dead === 0
    empty.hidden = !isEmpty
    parts.hidden = false
    setText(state, isEmpty && !status.paused ? 'No jobs yet.' : lead(status))
    pause.hidden = !mayChangeQueue()
    setText(pause, status.paused ? 'Resume' : 'Pause')
    root.classList.toggle('paused', status.paused)

    keep(tiles, states, item => item.name,
      item => make('li', {}, make('a', { class: item.name, href: view('jobs', { state: item.name }), title: `Jobs that ${item.about}` }, make('span', {}, item.label), make('strong'), make('small'))),
      (tile, item) => {
        const [, value, note] = tile.firstChild.children
        setText(value, number(status.jobs[item.name]))
        setText(note, item.name === 'ready' && status.oldestReadySeconds ? `oldest ${duration(status.oldestReadySeconds)}` : '')
      })

    rank(status.hosts)
    const ranked = status.hosts.map(host => ({ ...host, word: trouble(host), isTroubled: gravity[trouble(host)] > 1 }))
      .sort((one, other) => (gravity[other.word] ?? 0) - (gravity[one.word] ?? 0) || places.get(one.name) - places.get(other.name))
    showTroubles(ranked)
    hosts.set(showsAllHosts ? ranked : ranked.slice(0, fewHosts))
    hosts.element.hidden = ranked.length === 0
    noHosts.hidden = ranked.length > 0
    moreHosts.hidden = ranked.length <= fewHosts
    silentHosts.set(status.waits.silentHosts)
    silentHosts.element.hidden = status.waits.silentHosts.length === 0
    setText(moreHosts, showsAllHosts ? 'Show fewer' : `Show all ${number(ranked.length)} hosts`)

    const sum = status.failures.reduce((all, failure) => all + failure.count, 0)
    failures.set(status.failures.map(failure => ({ ...failure, share: sum ? failure.count / sum : 0 })))
    failures.element.hidden = status.failures.length === 0
    noFailures.hidden = status.failures.length > 0

    workers.set(status.workers.map(worker => ({ ...worker, word: worker.state ?? 'unknown', isTroubled: worker.state === 'silent' || worker.state === 'full' })))
    workers.element.hidden = status.workers.length === 0
    noWorkers.hidden = status.workers.length > 0

    showTotals(status)
    lines.update(status)
    latestBatches.wish()
    latestDeadHosts.wish()
  }

  setText(state, 'Loading …')
  return {
    update,
    close: () => {
      latestBatches.close()
      latestDeadHosts.close()
      lines.close()
    },
  }
}
