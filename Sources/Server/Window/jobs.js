// Jobs by state: found by URL, host, class, batch or a part of the URL, and tried again or deleted.

import { current, go, view } from './address.js'
import { change, get, live, mayChangeQueue, session } from './api.js'
import { confirm, forEach } from './dialog.js'
import { keep, make, say, setText, table } from './elements.js'
import { count, duration, number, states, unknown } from './words.js'

const filters = ['text', 'host', 'class', 'batch', 'url']
const pageSize = 50

export const mayRetry = state => state === 'dead' || state === 'delayed'
export const mayDelete = state => state !== 'active'

// How many jobs, in words. The server stops counting at a bound.
export const amount = (value, isAtLeast, state) => `${isAtLeast ? 'at least ' : ''}${count(value, `${state} job`)}`

const since = job => {
  if (job.state === 'dead') return duration(job.deadSeconds)
  if (job.state === 'active') return duration(job.activeSeconds)
  if (job.state === 'delayed') return job.dueInSeconds > 0 ? `in ${duration(job.dueInSeconds)}` : 'due now'
  return duration(job.ageSeconds)
}
const sinceTitle = { ready: 'Age', parked: 'Age', active: 'Active for', delayed: 'Due', dead: 'Dead for' }

// One job is changed by its URL, where it has the state that the user has seen.
export const changeOne = (verb, job) =>
  (verb === 'retry' ? change('POST', '/v1/jobs/retry', { state: job.state, url: job.url }) : change('DELETE', '/v1/jobs', { state: job.state, url: job.url }))

// What a change does to jobs of a state.
export const effect = (verb, state, isOne = false) => {
  const it = isOne ? 'It' : 'They'
  if (verb === 'retry') {
    if (state === 'dead') return `${it} ${isOne ? 'is' : 'are'} tried again with a full number of attempts.`
    return `${it} ${isOne ? 'does' : 'do'} not wait for ${isOne ? 'its' : 'their'} time any more.`
  }
  if (state === 'dead') return `${it} ${isOne ? 'stays' : 'stay'} counted as failed.`
  return `${it} ${isOne ? 'is not fetched, and counts' : 'are not fetched, and count'} as cancelled.`
}

// Jobs that are due already wait for their host, and not for a time.
const dueSentence = (verb, state, rest) => (verb === 'retry' && state === 'delayed' && rest > 0 ? ' The others are due already, and wait for their host.' : '')

export const stuckSentence = stuck => (stuck ? ` ${count(stuck, 'job')} stayed dead, because the batch was cancelled or is no longer remembered.` : '')

export const show = (root, first) => {
  let query = first
  let state
  let cursor = null
  let jobs = []
  let chosen = new Map()
  let total = null
  let seen = null
  let loading = null

  const tabs = make('nav', { class: 'tabs', 'aria-label': 'State of the jobs' })
  const about = make('p', { class: 'lead' })
  const fields = {
    text: make('input', { id: 'find-text', type: 'search', autocomplete: 'off', spellcheck: 'false', maxlength: 200 }),
    host: make('input', { id: 'find-host', type: 'search', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', list: 'known-hosts' }),
    class: make('input', { id: 'find-class', type: 'search', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', list: 'known-classes' }),
    batch: make('input', { id: 'find-batch', type: 'search', autocomplete: 'off', spellcheck: 'false' }),
    url: make('input', { id: 'find-url', type: 'search', inputmode: 'url', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off' }),
  }
  const titles = { text: 'Part of the URL', host: 'Host', class: 'Class of failure', batch: 'Batch', url: 'Exact URL' }
  const knownHosts = make('datalist', { id: 'known-hosts' })
  const knownClasses = make('datalist', { id: 'known-classes' })
  const clear = make('a', { class: 'button quiet' }, 'Clear')
  const form = make('form', { class: 'find', role: 'search', 'aria-label': 'Find jobs', on: { submit: event => {
    event.preventDefault()
    const words = Object.fromEntries(filters.map(name => [name, fields[name].value.trim()]))
    // Only dead jobs have a class.
    go(view('jobs', { state: words.class ? 'dead' : state, ...words }))
  } } },
  filters.map(name => make('div', { class: `field ${name}` }, make('label', { for: `find-${name}` }, titles[name]), fields[name])),
  make('div', { class: 'buttons' }, make('button', { type: 'submit', class: 'main' }, 'Find'), clear), knownHosts, knownClasses)

  // A narrow screen shows the list first.
  const finder = make('details', { class: 'finder' }, make('summary', {}, 'Find jobs'), form)
  const error = make('p', { class: 'error', role: 'alert' })
  const found = make('p', { class: 'found', role: 'status' })
  const reload = make('button', { type: 'button', class: 'quiet', on: { click: () => load() } }, 'Reload')
  const bulk = make('div', { class: 'buttons' })
  const selected = make('div', { class: 'buttons' })
  const readOnly = make('p', { class: 'none', hidden: true })
  const holder = make('div')
  const none = make('p', { class: 'empty', hidden: true })
  const more = make('button', { type: 'button', hidden: true, on: { click: () => load(true) } }, 'More')
  root.append(make('div', { class: 'title' }, make('h1', {}, 'Jobs'), about), tabs, finder, error,
    make('div', { class: 'bar-of-list' }, found, reload, bulk, selected), readOnly, holder, none, more)

  const filter = () => Object.fromEntries(filters.map(name => [name, query[name]]))
  const hasFilter = () => filters.some(name => query[name])
  const inWords = () => {
    const words = []
    if (query.text) words.push(`with ${query.text} in the URL`)
    if (query.class) words.push(`of the class ${query.class}`)
    if (query.host) words.push(`of the host ${query.host}`)
    if (query.batch) words.push(`of the batch ${query.batch}`)
    if (query.url) words.push(`of the URL ${query.url}`)
    return words.length ? ` ${words.join(' ')}` : ` of the queue ${live.status?.queue ?? current().queue ?? ''}`.trimEnd()
  }

  let list
  let everyBox
  const makeList = () => {
    const canSelect = mayDelete(state) && mayChangeQueue()
    everyBox = make('input', { type: 'checkbox', 'aria-label': 'Select all jobs on this page', on: { change: () => {
      chosen = everyBox.checked ? new Map(jobs.map(job => [job.id, job])) : new Map()
      refresh()
    } } })
    const columns = [
      { title: 'Job', isHeader: true, name: 'job', cell: (job, cell) => {
        if (cell.firstChild) return
        cell.append(make('a', { class: 'url', href: view('job', { state: job.state, url: job.url, batch: query.batch }) }, job.url))
        if (job.error) cell.append(make('small', { class: 'narrow' }, `${job.error.class}: ${job.error.message ?? ''}`))
      } },
      { title: 'Failure', wide: true, name: 'failure', cell: (job, cell) => {
        if (!job.error || cell.firstChild) return job.error ? undefined : ''
        cell.append(make('strong', {}, job.error.class), ' ', make('span', {}, job.error.message ?? ''))
      } },
      { title: 'Attempts', number: true, wide: true, cell: job => number(job.failures + job.crashes + (job.state === 'active' ? 1 : 0)) },
      { title: sinceTitle[state], number: true, cell: since },
    ]
    if (state !== 'dead' && state !== 'delayed') columns.splice(1, 1, { title: 'Host', wide: true, cell: job => job.host })
    if (canSelect) {
      columns.unshift({ title: everyBox, name: 'select', cell: (job, cell) => {
        const box = cell.firstChild ?? cell.appendChild(make('input', { type: 'checkbox', 'aria-label': `Select ${job.url}`, on: { change: event => {
          if (event.target.checked) chosen.set(job.id, job)
          else chosen.delete(job.id)
          refresh()
        } } }))
        box.checked = chosen.has(job.id)
      } })
    }
    list = table('Jobs', columns, job => job.id)
    holder.replaceChildren(list.element)
  }

  // Retries or deletes all jobs that match. The question says how many there are.
  const changeAll = async verb => {
    const of = inWords()
    let counted
    try { counted = await get('/v1/jobs/count', { state, ...filter() }) } catch (problem) { return say(problem.message) }
    if (counted.count === 0 && !counted.atLeast) {
      say('No job matches any more.')
      return load()
    }
    const jobsInWords = amount(counted.count, counted.atLeast, state)
    // No more jobs are changed than the question has named.
    const limit = counted.atLeast ? null : counted.count
    if (limit === 0) return load()
    const isSure = await confirm({
      title: `${verb === 'retry' ? 'Retry' : 'Delete'} ${jobsInWords}?`,
      sentences: [
        `This is about all ${state} jobs${of}${counted.atLeast ? ', also those that were not counted' : ''}.`,
        effect(verb, state),
      ],
      action: verb === 'retry' ? `Retry ${jobsInWords}` : `Delete ${jobsInWords}`, isGrave: verb !== 'retry',
    })
    if (!isSure) return
    const words = { state, ...filter(), limit }
    try {
      const done = verb === 'retry' ? await change('POST', '/v1/jobs/retry', words) : await change('DELETE', '/v1/jobs', words)
      say(`${count(done.count, 'job')} ${verb === 'retry' ? 'retried' : 'deleted'}.${stuckSentence(done.stuck)}${dueSentence(verb, state, (limit ?? 0) - done.count)}`)
    } catch (problem) { say(problem.message) }
    load()
  }

  const changeSelected = async verb => {
    const these = [...chosen.values()]
    const words = count(these.length, 'selected job')
    const isSure = await confirm({
      title: `${verb === 'retry' ? 'Retry' : 'Delete'} ${words}?`,
      sentences: [effect(verb, state)],
      action: `${verb === 'retry' ? 'Retry' : 'Delete'} ${words}`, isGrave: verb !== 'retry',
    })
    if (!isSure) return
    const { results, errors } = await forEach(`${verb === 'retry' ? 'Retrying' : 'Deleting'} ${words}`, these, job => changeOne(verb, job))
    const sum = name => results.reduce((all, result) => all + result[name], 0)
    const failed = errors.length ? ` ${count(errors.length, 'call')} failed: ${errors[0].message}` : ''
    say(`${count(sum('count'), 'job')} ${verb === 'retry' ? 'retried' : 'deleted'}.${stuckSentence(sum('stuck'))}${errors.length ? '' : dueSentence(verb, state, these.length - sum('count'))}${failed}`)
    load()
  }

  const button = (text, act, kind) => make('button', { type: 'button', class: kind, on: { click: act } }, text)

  const refresh = () => {
    list.set(jobs)
    const isShown = jobs.length > 0
    list.element.hidden = !isShown
    everyBox.checked = isShown && chosen.size === jobs.length
    everyBox.indeterminate = chosen.size > 0 && chosen.size < jobs.length
    readOnly.hidden = mayChangeQueue() || !isShown
    setText(readOnly, session.runEnded
      ? 'The run has ended: jobs can be looked at, not changed. Run the same command again to fetch what failed.'
      : 'This window is read-only: jobs can be looked at, not changed.')

    const canChangeAll = mayChangeQueue() && isShown
    const verbs = [mayRetry(state) && 'retry', mayDelete(state) && 'delete'].filter(Boolean)
    const all = hasFilter() ? 'all that match' : `all ${state} jobs`
    keep(bulk, canChangeAll && !chosen.size ? verbs : [], verb => `${verb} ${all}`,
      verb => button(`${verb === 'retry' ? 'Retry' : 'Delete'} ${all} …`, () => changeAll(verb)))
    keep(selected, chosen.size ? verbs : [], verb => `${verb} ${chosen.size}`,
      verb => button(`${verb === 'retry' ? 'Retry' : 'Delete'} ${number(chosen.size)} selected …`, () => changeSelected(verb)))

    const page = jobs.length ? `${number(jobs.length)} shown` : ''
    if (total && cursor === null) total = { count: jobs.length, atLeast: false }
    const matching = total ? `${total.atLeast ? 'At least ' : ''}${count(total.count, 'job matches', 'jobs match')}` : ''
    setText(found, [matching, page].filter(Boolean).join(', '))
    more.hidden = cursor === null
  }

  const sayNone = isLoading => {
    none.hidden = jobs.length > 0
    if (isLoading) return setText(none, 'Loading …')
    if (cursor !== null) return setText(none, 'Nothing in this part of the queue matches. More looks further.')
    setText(none, hasFilter() ? `No ${state} job matches.` : state === 'dead' ? 'No job is dead.' : `No job is ${state} at the moment.`)
  }

  const load = async (isNext = false) => {
    loading?.abort()
    const stopping = loading = new AbortController()
    const options = { signal: stopping.signal }
    error.textContent = ''
    if (!isNext) {
      cursor = null
      chosen = new Map()
      seen = live.status?.jobs[state] ?? null
      sayNone(true)
    }
    more.disabled = true
    const counting = isNext ? Promise.resolve(total) : hasFilter() ? get('/v1/jobs/count', { state, ...filter() }, options).catch(() => null) : Promise.resolve(null)
    try {
      const page = await get('/v1/jobs', { state, ...filter(), cursor, limit: pageSize }, options)
      const known = new Set(isNext ? jobs.map(job => job.id) : [])
      jobs = isNext ? [...jobs, ...page.jobs.filter(job => !known.has(job.id))] : page.jobs
      cursor = page.cursor
      if (!isNext) makeList()
      total = isNext ? total : null
      refresh()
      sayNone(false)
      total = await counting
      if (!stopping.signal.aborted) refresh()
    } catch (problem) {
      if (stopping.signal.aborted) return
      if (!isNext) {
        jobs = []
        refresh()
        none.hidden = true
      }
      error.textContent = problem.message
    } finally {
      if (!stopping.signal.aborted) more.disabled = false
    }
  }

  const begin = () => {
    state = states.some(item => item.name === query.state) ? query.state : 'dead'
    if (query.class) state = 'dead'
    for (const name of filters) fields[name].value = query[name] ?? ''
    clear.setAttribute('href', view('jobs', { state }))
    clear.hidden = !hasFilter()
    finder.open = hasFilter() || matchMedia('(min-width: 46rem)').matches
    const item = states.find(other => other.name === state)
    setText(about, `${item.label} jobs ${item.about}.`)
    jobs = []
    total = null
    makeList()
    refresh()
    showTabs(live.status)
    load()
  }

  const showTabs = status => keep(tabs, states, item => item.name, item => make('a', {}, make('span', {}, item.label), ' ', make('span', { class: 'count' })), (tab, item) => {
    // A class belongs to dead jobs alone, so the other states leave it out.
    const words = { ...filter(), class: item.name === 'dead' ? query.class : null }
    tab.setAttribute('href', view('jobs', { state: item.name, ...words }))
    if (item.name === state) tab.setAttribute('aria-current', 'page')
    else tab.removeAttribute('aria-current')
    setText(tab.lastChild, status ? number(status.jobs[item.name]) : unknown)
  })

  begin()
  return {
    changed: next => {
      query = next
      begin()
      return true
    },
    update: status => {
      showTabs(status)
      if (seen === null) seen = status.jobs[state]
      // Jobs of the other states come and go all the time.
      const isOld = state === 'dead' && status.jobs.dead !== seen
      reload.classList.toggle('main', isOld)
      setText(reload, isOld ? 'Reload: the list has changed' : 'Reload')
      keep(knownHosts, status.hosts.slice(0, 200), host => host.name, host => make('option', { value: host.name }))
      keep(knownClasses, status.failures, failure => failure.class, failure => make('option', { value: failure.class }))
    },
    close: () => loading?.abort(),
  }
}
