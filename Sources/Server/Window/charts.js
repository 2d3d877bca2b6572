// Line charts of the last minutes. The history comes once, and events move the line on from there.

import { get, live } from './api.js'
import { make, setText, svg } from './elements.js'
import { clock, compact, duration, number, rate } from './words.js'

const seconds = 900
const steps = 90
const height = 150
const edge = { top: 10, right: 10, bottom: 22, left: 44 }

// The lowest round number above a value, so that the grid has round numbers too.
const ceiling = value => {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 4, 5, 10].find(factor => factor * power >= value) * power
}

const chart = (title, unit, words) => {
  const now = make('strong')
  const picture = svg('svg', { role: 'img', height })
  const hint = make('span', { class: 'hint' })
  const element = make('figure', { class: 'chart' },
    make('figcaption', {}, make('span', {}, title), now, make('span', { class: 'unit' }, unit), hint), picture)
  let values = []
  let stepSeconds = seconds / steps
  let pointed = null
  let latest = null

  const draw = () => {
    const width = Math.round(element.clientWidth)
    if (!width) return
    const known = values.filter(value => value !== null)
    const top = ceiling(Math.max(...known, 0))
    const x = index => edge.left + (width - edge.left - edge.right) * (values.length > 1 ? index / (values.length - 1) : 1)
    const y = value => height - edge.bottom - (height - edge.bottom - edge.top) * (value / top)
    // An unknown step is a gap in the line.
    let line = ''
    let area = ''
    let start = null
    values.forEach((value, index) => {
      if (value === null) return
      const isFirst = index === 0 || values[index - 1] === null
      const isLast = index === values.length - 1 || values[index + 1] === null
      const point = `${x(index).toFixed(1)} ${y(value).toFixed(1)}`
      if (isFirst) start = x(index).toFixed(1)
      line += `${isFirst ? 'M' : 'L'}${point}`
      if (isFirst && isLast) line += 'h0.1'
      area += isFirst ? `M${start} ${y(0)}L${point}` : `L${point}`
      if (isLast) area += `L${x(index).toFixed(1)} ${y(0)}Z`
    })
    const grid = [0, top / 2, top].map(value => [
      svg('line', { class: 'grid', x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) }),
      svg('text', { x: edge.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, compact(value)),
    ])
    const times = [
      svg('text', { x: edge.left, y: height - 5 }, `${duration((values.length || steps) * stepSeconds)} ago`),
      svg('text', { x: width - edge.right, y: height - 5, 'text-anchor': 'end' }, 'now'),
    ]
    const mark = pointed !== null && values[pointed] !== null && values[pointed] !== undefined
      ? [svg('line', { class: 'mark', x1: x(pointed), x2: x(pointed), y1: edge.top, y2: y(0) }), svg('circle', { class: 'mark', cx: x(pointed), cy: y(values[pointed]), r: 3.5 })]
      : []
    picture.setAttribute('viewBox', `0 0 ${width} ${height}`)
    picture.setAttribute('aria-label', known.length
      ? `${title}: ${words(latest ?? values.at(-1))} now. Lowest ${words(Math.min(...known))} and highest ${words(Math.max(...known))} in the last ${duration(values.length * stepSeconds)}.`
      : `${title}: nothing is known yet.`)
    picture.replaceChildren(...grid.flat(), ...times, svg('path', { class: 'area', d: area }), svg('path', { class: 'line', d: line }), ...mark)
    setText(now, words(latest ?? values.at(-1)))
    setText(hint, mark.length ? `${words(values[pointed])} at ${clock(Date.now() - (values.length - 1 - pointed) * stepSeconds * 1000)}` : '')
  }

  picture.addEventListener('pointermove', event => {
    const place = (event.clientX - picture.getBoundingClientRect().left - edge.left) / (element.clientWidth - edge.left - edge.right)
    pointed = Math.max(0, Math.min(values.length - 1, Math.round(place * (values.length - 1))))
    draw()
  })
  picture.addEventListener('pointerleave', () => {
    pointed = null
    draw()
  })
  const observer = new ResizeObserver(draw)
  observer.observe(element)
  return {
    element,
    set: (next, step) => {
      values = next
      stepSeconds = step
      draw()
    },
    // A value that stands beside the line.
    now: value => {
      latest = value
      draw()
    },
    // The highest value of a step counts, as in the server's history.
    add: (value, isNewStep) => {
      latest = value
      if (isNewStep) values = [...values.slice(values.length >= steps ? 1 : 0), value]
      else if (value !== null) values = [...values.slice(0, -1), Math.max(value, values.at(-1) ?? 0)]
      draw()
    },
    close: () => observer.disconnect(),
  }
}

// Both charts of the overview. `now` gives the values of a status.
export const charts = now => {
  const throughput = chart('Throughput', 'per second', rate)
  const depth = chart('Depth', 'open jobs', number)
  const element = make('div', { class: 'charts' }, throughput.element, depth.element)
  let stepSeconds = seconds / steps
  let began = Date.now()
  let isClosed = false
  const stopping = new AbortController()

  const load = async () => {
    try {
      const history = await get('/v1/history', { seconds, steps }, { signal: stopping.signal })
      if (isClosed) return
      stepSeconds = history.stepSeconds
      began = Date.now()
      // The last step has just begun. Its value is of a part of it, and would look like a drop.
      throughput.set([...history.throughput.slice(0, -1), null], stepSeconds)
      depth.set(history.depth, stepSeconds)
      if (live.status) {
        const value = now(live.status)
        throughput.now(value.throughput)
        depth.add(value.depth, false)
      }
    } catch { /* The banner says that the server or Redis is away. The line goes on with the next events. */ }
  }

  const move = status => {
    if (!status || live.isGone || live.away) return
    const isNewStep = Date.now() - began >= stepSeconds * 1000
    if (isNewStep) began = Date.now()
    const value = now(status)
    // The line has the highest second of each step, and an event has the mean of a minute: that is no point of the line.
    throughput.now(value.throughput)
    depth.add(value.depth, isNewStep)
    if (isNewStep) load()
  }

  load()
  // A queue in which nothing happens sends no event, but its time goes on.
  const ticker = setInterval(() => move(live.status), 1000)
  const onShow = () => { if (!document.hidden) load() }
  document.addEventListener('visibilitychange', onShow)
  return {
    element,
    update: move,
    close: () => {
      isClosed = true
      stopping.abort()
      clearInterval(ticker)
      document.removeEventListener('visibilitychange', onShow)
      throughput.close()
      depth.close()
    },
  }
}
