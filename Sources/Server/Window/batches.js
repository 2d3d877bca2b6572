// The batches of the queue: their progress, their pictures, and the button that cancels one.

import { view } from './address.js'
import { change, get, mayChangeQueue } from './api.js'
import { confirm } from './dialog.js'
import { atMost, make, say, setText, table } from './elements.js'
import { count, duration, number, percent, unknown } from './words.js'

// Also a cell of the overview.
export const progressCell = (batch, cell) => {
  if (!cell.firstChild) {
    cell.append(make('div', { class: 'progress' }, make('progress', { max: 1, 'aria-label': `Progress of the batch ${batch.batch}` }), make('span')))
  }
  const [bar, text] = cell.firstChild.children
  const ended = batch.done + batch.failed + batch.disallowed + batch.cancelled
  const share = batch.progress ?? (batch.total ? ended / batch.total : null)
  if (share === null) bar.removeAttribute('value')
  else bar.value = share
  setText(text, share === null ? unknown : percent(share))
}

const isOver = batch => batch.state === 'complete' || batch.state === 'cancelled' || batch.state === 'cancelling'

export const show = root => {
  let limit = 50
  let isClosed = false
  const empty = make('div', { class: 'empty', hidden: true },
    make('p', {}, 'No batch yet. Give a list a name:'), make('pre', {}, make('code', {}, 'gannet enqueue -i urls.txt --batch monday')))
  const error = make('p', { class: 'error', role: 'alert' })
  const total = make('p', { class: 'lead' })

  const cancel = async batch => {
    const open = batch.ready + batch.parked + batch.delayed
    const isSure = await confirm({
      title: `Cancel the batch ${batch.batch}?`,
      sentences: [`${count(open, 'waiting job ends', 'waiting jobs end')} now. ${count(batch.active, 'active job is', 'active jobs are')} finished.`, 'A cancelled batch cannot go on.'],
      action: 'Cancel the batch', isGrave: true,
    })
    if (!isSure) return
    try {
      await change('POST', `/v1/batches/${encodeURIComponent(batch.batch)}/cancel`)
      say(`The batch ${batch.batch} is cancelled.`)
    } catch (problem) { say(problem.message) }
    load()
  }

  let latest = new Map()
  const actions = (batch, cell) => {
    if (!cell.firstChild) {
      cell.append(
        make('a', { href: view('pictures', { batch: batch.batch }) }, 'Pictures'), ' ',
        make('a', { href: view('jobs', { state: 'dead', batch: batch.batch }) }, 'Dead jobs'), ' ',
        make('button', { type: 'button', class: 'small', 'aria-label': `Cancel the batch ${batch.batch}`, on: { click: () => cancel(latest.get(batch.batch)) } }, 'Cancel'))
    }
    cell.lastChild.hidden = !mayChangeQueue() || isOver(batch)
  }

  const list = table('Batches, the latest first', [
    { title: 'Batch', isHeader: true, name: 'name', cell: batch => batch.batch },
    { title: 'State', wide: true, cell: batch => batch.state },
    { title: 'Progress', name: 'progress', cell: progressCell },
    { title: 'Jobs', number: true, wide: true, cell: batch => number(batch.total) },
    { title: 'Done', number: true, wide: true, cell: batch => number(batch.done) },
    { title: 'Failed', number: true, cell: batch => number(batch.failed) },
    { title: 'Cancelled', number: true, wide: true, cell: batch => number(batch.cancelled) },
    { title: 'Waiting', number: true, wide: true, cell: batch => number(batch.ready + batch.parked + batch.delayed) },
    { title: 'Active', number: true, wide: true, cell: batch => number(batch.active) },
    { title: 'Age', number: true, wide: true, cell: batch => duration(batch.ageSeconds) },
    { title: 'Actions', name: 'actions', cell: actions },
  ], batch => batch.batch)
  const more = make('button', { type: 'button', hidden: true, on: { click: () => {
    limit = Math.min(limit * 4, 10_000)
    load()
  } } }, 'More')
  root.append(make('div', { class: 'title' }, make('h1', {}, 'Batches'), total), error, empty, list.element, more)

  let isAsking = false
  const load = async () => {
    if (isAsking) return
    isAsking = true
    try {
      const answer = await get('/v1/batches', { limit })
      if (isClosed) return
      error.textContent = ''
      latest = new Map(answer.batches.map(batch => [batch.batch, batch]))
      list.set(answer.batches)
      list.element.hidden = answer.batches.length === 0
      empty.hidden = answer.batches.length > 0
      more.hidden = answer.batches.length >= answer.total || limit >= 10_000
      setText(total, answer.batches.length < answer.total ? `The latest ${number(answer.batches.length)} of ${number(answer.total)}` : '')
    } catch (problem) {
      if (!isClosed) error.textContent = problem.message
    } finally {
      isAsking = false
    }
  }

  list.element.hidden = true
  load()
  const again = atMost(3000, load)
  return {
    update: again.wish,
    close: () => {
      isClosed = true
      again.close()
    },
  }
}
