// One job: its attempts, its times, and what is known of its URL and its host.

import { go, view } from './address.js'
import { get, mayChangeQueue } from './api.js'
import { confirm } from './dialog.js'
import { foreignLink, make, say, svg } from './elements.js'
import { changeOne, effect, mayDelete, mayRetry, stuckSentence } from './jobs.js'
import { ago, bytes, clock, count, duration, moment, number, states, unknown } from './words.js'

const facts = rows => make('dl', { class: 'facts' }, rows.filter(row => row && row[1] !== null && row[1] !== undefined)
  .map(([title, value]) => make('div', {}, make('dt', {}, title), make('dd', {}, value))))

const back = seconds => (seconds === null ? unknown : moment(Date.now() - seconds * 1000))

// The phases of a job's life, as far as the server knows them: each with the time at which it began and how long it took.
const phases = (job, outcome) => {
  const rows = []
  const add = (phase, at, took) => rows.push([phase, at, took])
  if (job && job.ageSeconds !== null) {
    const left = { active: job.activeSeconds, dead: job.deadSeconds }[job.state]
    add('Enqueued', back(job.ageSeconds), '')
    if (job.state === 'active' && left !== null) add('Waited, with earlier attempts', back(job.ageSeconds), duration(job.ageSeconds - left))
    if (job.state === 'active') add('Held by a worker', back(left), `${duration(left)} so far`)
    if (job.state === 'dead' && left !== null) add('Waiting and attempts', back(job.ageSeconds), duration(job.ageSeconds - left))
    if (job.state === 'dead') add('Given up', back(left), `${ago(left)}`)
    if (job.state === 'ready' || job.state === 'parked') add(job.state === 'ready' ? 'Waits for a worker' : 'Waits for the same URL', '', `${duration(job.ageSeconds)} so far`)
    if (job.state === 'delayed') add('Next attempt', moment(Date.now() + job.dueInSeconds * 1000), job.dueInSeconds > 0 ? `in ${duration(job.dueInSeconds)}` : 'due now')
  }
  if (outcome) add('Latest fetch of the URL ended', back(outcome.ageSeconds), outcome.tookSeconds === null || outcome.tookSeconds === undefined ? '' : `took ${duration(outcome.tookSeconds)}`)
  return make('table', { class: 'phases' }, make('caption', { class: 'unseen' }, 'Phases of the job'),
    make('thead', {}, make('tr', {}, ['Phase', 'At', 'Time'].map((title, index) => make('th', { scope: 'col', class: index === 2 ? 'number' : null }, title)))),
    make('tbody', {}, rows.map(row => make('tr', {}, make('th', { scope: 'row' }, row[0]), make('td', {}, row[1]), make('td', { class: 'number' }, row[2])))))
}

const parts = [['redirects', 'Redirects before'], ['lookUp', 'Look-up of the name'], ['connect', 'Connection'], ['tls', 'TLS handshake'], ['firstByte', 'Wait for the first byte'], ['transfer', 'Transfer']]

// Where the time of the latest fetch went, in the order of time. Only slow and failed fetches have it.
const fetchTimes = times => {
  const all = parts.map(([key, title]) => [title, times[`${key}Seconds`] ?? 0])
  const sum = all.reduce((total, [, seconds]) => total + seconds, 0)
  if (sum === 0) return make('p', { class: 'hint' }, 'No phase of the latest fetch took a millisecond.')
  let before = 0
  return make('table', { class: 'phases' }, make('caption', {}, 'Where the time of the latest fetch went'),
    make('thead', { class: 'unseen' }, make('tr', {}, ['Phase', 'Share', 'Time'].map(title => make('th', { scope: 'col' }, title)))),
    make('tbody', {}, all.filter(([, seconds]) => seconds > 0).map(([title, seconds]) => {
      const bar = svg('svg', { class: 'share', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        svg('rect', { x: before / sum * 100, y: 0, width: Math.max(0.5, seconds / sum * 100), height: 8 }))
      before += seconds
      return make('tr', {}, make('th', { scope: 'row' }, title), make('td', {}, bar), make('td', { class: 'number' }, duration(seconds)))
    })))
}

const holderSentence = holder => {
  if (holder.kind === 'retry') return 'Nobody fetches the URL now: a job waits for its next attempt.'
  const who = holder.kind === 'worker' ? `A worker${holder.queue ? ` of the queue ${holder.queue}` : ''}` : 'A program'
  return `${who} has been fetching the URL for ${duration(holder.seconds)}. Its lease lasts for another ${duration(holder.leaseSeconds)}.`
}

// The answer of explain, as sentences.
const sentences = explained => {
  const { outcome, holder, host } = explained
  const all = []
  if (!outcome) all.push('No outcome of this URL is kept.')
  else if (outcome.failed) all.push(`The URL failed ${ago(outcome.ageSeconds)}: ${outcome.error?.message ?? outcome.error?.class ?? ''}`)
  else all.push(`The URL was fetched ${ago(outcome.ageSeconds)}.`)
  if (outcome) all.push(outcome.fresh ? `A job would use this outcome for another ${duration(outcome.freshForSeconds)}, without a request.` : 'A job would ask the server again.')
  if (holder) all.push(holderSentence(holder))
  if (explained.waitingJobs) all.push(`${count(explained.waitingJobs, 'job waits', 'jobs wait')} for this URL.`)
  if (explained.waitingCallers) all.push(`${count(explained.waitingCallers, 'caller waits', 'callers wait')} for this URL.`)
  if (host.givenUp) all.push(`The host is given up after ${count(host.connectFailures, 'failed connection')}.`)
  else if (host.connectFailures) all.push(`${count(host.connectFailures, 'connection')} to the host failed one after another.`)
  if (host.probing) all.push('One request tries whether the host is back.')
  if (host.coolDownSeconds) all.push(`The host rests until ${clock(Date.now() + host.coolDownSeconds * 1000)} (${duration(host.coolDownSeconds)}).`)
  if (host.nextStartSeconds) all.push(`The next request to the host starts in ${duration(host.nextStartSeconds)} at the earliest.`)
  return all
}

export const show = (root, query) => {
  const url = query.url ?? ''
  const stopping = new AbortController()
  const error = make('p', { class: 'error', role: 'alert' })
  const buttons = make('div', { class: 'buttons' })
  const reload = make('button', { type: 'button', class: 'quiet', on: { click: () => load() } }, 'Reload')
  const body = make('div', { class: 'parts two' }, make('p', { class: 'none' }, 'Loading …'))
  root.append(
    make('p', { class: 'trail' }, make('a', { href: view('jobs', { state: query.state, batch: query.batch }) }, 'Jobs')),
    make('div', { class: 'title' }, make('h1', {}, 'Job'), buttons),
    make('p', { class: 'address' }, foreignLink(url)), error, body)

  // A job moves from state to state, so the state of the address is only the first guess.
  const find = async () => {
    const guess = states.filter(item => item.name === query.state)
    const others = states.filter(item => item.name !== query.state)
    for (const some of [guess, others]) {
      const pages = await Promise.all(some.map(item => get('/v1/jobs', { state: item.name, url, limit: 1 }, { signal: stopping.signal })))
      const job = pages.flatMap(page => page.jobs)[0]
      if (job) return job
    }
    return null
  }

  const act = async (verb, job) => {
    const isSure = await confirm({
      title: verb === 'retry' ? 'Retry this job?' : 'Delete this job?',
      sentences: [job.url, effect(verb, job.state, true), job.state === 'dead' ? null : `Further ${job.state} jobs of this URL go with it.`].filter(Boolean),
      action: verb === 'retry' ? 'Retry' : 'Delete', isGrave: verb !== 'retry',
    })
    if (!isSure) return
    try {
      const done = await changeOne(verb, job)
      say(`${count(done.count, 'job')} ${verb === 'retry' ? 'retried' : 'deleted'}.${stuckSentence(done.stuck)}`)
      if (verb === 'delete' && done.count) return go(view('jobs', { state: job.state, batch: query.batch }))
    } catch (problem) { say(problem.message) }
    load()
  }

  const load = async () => {
    error.textContent = ''
    const failures = []
    const tolerate = problem => {
      failures.push(problem)
      return undefined
    }
    const [job, explained] = await Promise.all([find().catch(tolerate), get('/v1/explain', { url }, { signal: stopping.signal }).catch(tolerate)])
    if (stopping.signal.aborted) return
    if (failures.length) error.textContent = failures[0].message
    buttons.replaceChildren(reload)
    if (job && mayChangeQueue()) {
      const button = (verb, text, kind) => make('button', { type: 'button', class: kind, on: { click: () => act(verb, job) } }, text)
      if (mayDelete(job.state)) buttons.prepend(button('delete', 'Delete …', null))
      if (mayRetry(job.state)) buttons.prepend(button('retry', job.state === 'dead' ? 'Retry …' : 'Retry now …', 'main'))
    }
    const shown = []
    const section = (title, ...children) => shown.push(make('section', {}, make('h2', {}, title), ...children))
    if (job) {
      const item = states.find(other => other.name === job.state)
      section('State and attempts', make('p', {}, make('span', { class: `badge ${job.state === 'dead' ? 'bad' : ''}` }, item.label), ` ${item.one}`),
        job.error && make('p', {}, make('strong', {}, job.error.class), ` ${job.error.message ?? ''}`),
        facts([
          ['Failed attempts', number(job.failures)], ['Left by a crashed worker', number(job.crashes)],
          job.state === 'active' ? ['Running now', 'one attempt'] : null,
          job.httpStatus !== null ? ['Latest HTTP status', String(job.httpStatus)] : null,
          ['Host', job.host], ['Id', make('code', { class: 'digest' }, job.id)],
        ]))
    } else if (job === null) {
      section('State and attempts', make('p', {}, 'No job of this URL is in the queue. It has ended, was deleted, or never was in this queue.'))
    }
    const times = explained?.outcome?.phases ?? job?.phases
    if (job || explained?.outcome) section('Times', phases(job, explained?.outcome), times && fetchTimes(times))
    if (explained) {
      const { outcome, host } = explained
      section('What explain says', make('ul', { class: 'sentences' }, sentences(explained).map(text => make('li', {}, text))), facts([
        outcome && ['HTTP status', outcome.httpStatus === null ? null : String(outcome.httpStatus)],
        outcome && ['Length', outcome.bytes === null ? null : bytes(outcome.bytes)],
        outcome && ['Type', outcome.contentType], outcome && ['SHA-256', outcome.sha256 && make('code', { class: 'digest' }, outcome.sha256)], outcome && ['File', outcome.file],
        explained.headers.length ? ['Headers of the request', explained.headers.join(', ')] : null,
      ]))
      section('Host', facts([
        ['Name', make('a', { href: view('jobs', { state: 'dead', host: host.name }) }, host.name)],
        ['Requests in flight', number(host.inFlight)], ["Operator's limit", host.limit === null ? 'none' : number(host.limit)],
        ["Operator's interval", host.intervalSeconds === null ? 'none' : duration(host.intervalSeconds)],
        host.pauseSeconds ? ['Paused for', duration(host.pauseSeconds)] : null, host.rule ? ['Rule', host.rule] : null,
      ]))
    }
    body.replaceChildren(...shown)
  }

  load()
  return { close: () => stopping.abort() }
}
