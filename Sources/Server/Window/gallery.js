// The gallery: the pictures of a batch as a grid. Only cells near the screen are in the page, and only their pictures are asked for.

import { address, current, go, note, step, view } from './address.js'
import { get, isOpen, like, live, mayChange, session } from './api.js'
import { draw, loadImage, makeCell, release, star } from './cell.js'
import { keep, make, say, setText } from './elements.js'
import { headHeight, layout } from './layout.js'
import { makePages, pageSize } from './pages.js'
import { openPicture } from './picture.js'
import { count, number, sectionTitle, unknown } from './words.js'

const orders = [['oldest', 'Oldest first'], ['newest', 'Newest first'], ['host', 'By host'], ['largest', 'Largest first'], ['smallest', 'Smallest first']]
const groupings = [['', 'No sections'], ['day', 'By day'], ['week', 'By week'], ['month', 'By month']]
// More placeholders than that tell nobody more.
const mostWaiting = 1000

// Whether two addresses are of the same list, whichever picture is open.
const sameList = (one, other) => ['queue', 'batch', 'order', 'by', 'favourites'].every(name => one[name] === other[name])

const known = (list, value) => (list.some(([name]) => name === value) ? value : list[0][0])

export const show = (root, firstQuery) => {
  let query = firstQuery
  let choices
  let pages
  let grid = null
  let cells = new Map()
  let focused = 0
  let dialog = null
  // The open picture has a step of the history above the gallery's.
  let isStep = false
  let isFirst = true
  let isWanted = false
  let asked = 0
  let isFailing = false

  const picker = (id, title, list) => {
    const select = make('select', { id }, list.map(([value, text]) => make('option', { value }, text)))
    return { select, element: make('div', { class: 'field' }, make('label', { for: id }, title), select) }
  }
  const batch = picker('batch', 'Batch', [])
  const nameBatches = names => keep(batch.select, ['', ...new Set(names)], name => name, name => make('option', { value: name }, name === '' ? 'The latest batch' : name))
  nameBatches([])
  const order = picker('order', 'Order', orders)
  const by = picker('by', 'Sections', groupings)
  const onlyFavourites = make('button', { type: 'button', class: 'toggle', 'aria-pressed': 'false' }, star(), 'Favourites')
  const choose = changes => go(address({ ...current(), picture: null, at: null, ...changes }), { replaces: true })
  batch.select.addEventListener('change', () => choose({ batch: batch.select.value }))
  order.select.addEventListener('change', () => choose({ order: order.select.value === orders[0][0] ? null : order.select.value }))
  by.select.addEventListener('change', () => choose({ by: by.select.value }))
  onlyFavourites.addEventListener('click', () => choose({ favourites: choices.favourites ? null : 'true' }))

  const summary = make('p', { class: 'lead' })
  const error = make('p', { class: 'error', role: 'alert' })
  const cut = make('p', { class: 'none', hidden: true })
  const empty = make('div', { class: 'empty', hidden: true })
  const surface = make('div', { class: 'surface' })
  const keys = make('p', { class: 'hint keys' }, 'Keys: arrows move, Enter opens, S stars, Home and End lead to the first and the last.')
  root.append(make('div', { class: 'title' }, make('h1', {}, 'Pictures'), summary),
    make('div', { class: 'choices' }, batch.element, order.element, by.element, onlyFavourites),
    error, cut, empty, surface,
    keys)

  // The cells.

  const topOfSurface = () => surface.getBoundingClientRect().top + scrollY
  const screen = () => {
    const top = scrollY - topOfSurface()
    return { top, bottom: top + innerHeight }
  }

  const listeners = {
    onOpen: cell => { if (cell.picture) openAbove(cell) },
    onFocus: cell => setFocused(cell.index),
    onStar: cell => toggleStar(cell.picture),
  }

  const redraw = cell => {
    const isWaiting = cell.index >= pages.arrangement.total
    draw(cell, isWaiting ? null : pages.at(cell.index), isWaiting)
  }

  const setFocused = index => {
    if (index === focused) return
    cells.get(focused)?.open.setAttribute('tabindex', '-1')
    focused = index
    cells.get(focused)?.open.setAttribute('tabindex', '0')
  }

  const title = block => (block.isWaiting ? 'Still to come' : sectionTitle(block.start, choices.by))

  const makeBlock = block => {
    const id = `section-${block.key}`
    const heading = grid.head ? make('h2', { id }, make('span', {}), ' ', make('small')) : null
    return make('section', grid.head ? { 'aria-labelledby': id } : { 'aria-label': 'Pictures' }, heading, make('div', { class: 'cells', role: 'list' }))
  }

  // Puts the cells near the screen into the page, and takes all others out.
  const render = () => {
    if (!grid || !surface.isConnected) return
    const { top, bottom } = screen()
    const margin = innerHeight * 0.75
    const parts = grid.between(Math.max(0, top - margin), bottom + margin)
    const next = new Map()
    const active = document.activeElement
    keep(surface, parts, part => `${part.block.key} ${grid.head > 0}`, part => makeBlock(part.block), (section, { block }) => {
      section.style.top = `${block.top}px`
      section.style.height = `${block.height}px`
      if (!grid.head) return
      const [name, size] = section.firstChild.children
      setText(name, title(block))
      setText(size, number(block.count))
    })
    for (const { block, begin, end } of parts) {
      const list = surface.kept.get(`${block.key} ${grid.head > 0}`).lastChild
      for (let index = begin; index < end; index += 1) {
        const cell = cells.get(index) ?? makeCell(listeners)
        next.set(index, cell)
        position(cell, index, block, list)
      }
    }
    for (const [index, cell] of cells) {
      if (next.get(index) === cell) continue
      // Focus would be lost with its cell, so that cell stays until the focus moves.
      if (cell.element.contains(active) && index < grid.count && surface.contains(cell.element)) next.set(index, cell)
      else release(cell)
    }
    cells = next
    for (const cell of cells.values()) redraw(cell)
    if (!surface.contains(active)) {
      // The tab key has to find a cell, so one on the screen can be reached.
      const first = grid.between(Math.max(0, top + headHeight), bottom)[0]?.begin ?? 0
      if (!cells.has(focused) || grid.place(focused).top < top || grid.place(focused).top > bottom) setFocused(first)
    }
    cells.get(focused)?.open.setAttribute('tabindex', '0')
  }

  const position = (cell, index, block, list) => {
    const within = index - block.first
    const { style } = cell.element
    const column = within % grid.columns
    const place = `${column * (grid.side + grid.gap)} ${Math.floor(within / grid.columns) * grid.pitch} ${grid.side} ${grid.pitch}`
    if (cell.place !== place) {
      cell.place = place
      style.left = `${column * (grid.side + grid.gap)}px`
      style.top = `${Math.floor(within / grid.columns) * grid.pitch}px`
      style.width = `${grid.side}px`
      style.height = `${grid.pitch - grid.gap}px`
    }
    cell.index = index
    if (cell.element.parentNode !== list) list.append(cell.element)
    cell.element.setAttribute('aria-posinset', within + 1)
    cell.element.setAttribute('aria-setsize', block.count)
  }

  // Asks for pages and pictures near the screen.
  const load = () => {
    if (!grid) return
    const { top, bottom } = screen()
    const margin = innerHeight * 0.75
    const total = pages.arrangement.total
    const numbers = new Set()
    for (const { begin, end } of grid.between(Math.max(0, top - margin), bottom + margin)) {
      const last = Math.min(end, total) - 1
      if (last >= begin) for (let page = Math.floor(begin / pageSize); page <= Math.floor(last / pageSize); page += 1) numbers.add(page)
    }
    pages.need(numbers)
    for (const cell of cells.values()) if (cell.wanted) loadImage(cell, grid.side)
  }

  // Cells follow the scrolling at once. Pages and pictures are asked for a moment later, so that a long jump does not ask for all between.
  let frame = 0
  let settle = null
  let loadedAt = 0
  const onScroll = () => {
    if (!frame) {
      frame = requestAnimationFrame(() => {
        frame = 0
        render()
      })
    }
    clearTimeout(settle)
    settle = setTimeout(() => {
      loadedAt = performance.now()
      render()
      load()
      history.replaceState({ ...history.state, scroll: scrollY }, '')
    }, performance.now() - loadedAt > 400 ? 30 : 120)
  }

  let width = 0
  const arrange = () => {
    width = surface.clientWidth
    const { arrangement } = pages
    const waiting = choices.favourites ? 0 : Math.min(arrangement.waiting, mostWaiting)
    grid = layout({ sections: arrangement.sections, waiting, hasHeads: Boolean(choices.by), width })
    surface.style.height = `${grid.height}px`
  }

  const showSummary = () => {
    const { arrangement } = pages
    // The list of favourites has no failures in it.
    const failures = choices.favourites ? 0 : arrangement.failed
    const words = [count(arrangement.total - failures, choices.favourites ? 'favourite' : 'picture')]
    if (arrangement.waiting && !choices.favourites) words.push(`${number(arrangement.waiting)} still to come`)
    const failed = failures ? make('a', { href: view('jobs', { state: 'dead', batch: arrangement.batch }) }, `${number(failures)} failed`) : null
    const text = words.join(' · ')
    const key = `${text} ${failures} ${arrangement.batch}`
    if (summary.dataset.key !== key) {
      summary.dataset.key = key
      summary.replaceChildren(text, failed ? ' · ' : '', failed ?? '')
    }
    cut.hidden = !arrangement.isCut
    setText(cut, `This batch has more pictures than the server keeps in its list. ${number(arrangement.total)} are shown.`)
    const isEmpty = arrangement.total === 0 && (arrangement.waiting === 0 || choices.favourites)
    empty.hidden = !isEmpty
    keys.hidden = isEmpty
    if (!isEmpty) return
    if (choices.favourites) empty.replaceChildren(make('p', {}, 'No picture of this batch is a favourite yet. Press S on a picture, or its star.'))
    else if (arrangement.batch === null) empty.replaceChildren(make('p', {}, 'No batch yet. Fetch some pictures:'), make('pre', {}, make('code', {}, 'gannet enqueue -i urls.txt --batch monday')))
    else empty.replaceChildren(make('p', {}, 'This batch has no pictures.'))
  }

  // The index whose cell is first on the screen.
  const anchor = () => (grid ? grid.between(Math.max(0, screen().top), screen().bottom)[0]?.begin ?? 0 : 0)

  const taken = ({ isOther, isMoved, before }) => {
    isFailing = false
    const { arrangement } = pages
    error.textContent = arrangement.favouritesProblem ? `Favourites are not shown. ${arrangement.favouritesProblem}` : ''
    if (isOther) {
      for (const cell of cells.values()) release(cell)
      cells = new Map()
      scrollTo(0, 0)
    }
    if (isMoved || !grid) {
      const index = anchor()
      const more = before ? arrangement.total - before.total : 0
      // New pictures come before the others here. The user keeps looking at the same ones.
      const isPushed = grid !== null && !isOther && choices.order === 'newest' && more > 0 && screen().top > 0 && index > 0
      const oldTop = isPushed ? grid.place(index).top : 0
      arrange()
      if (isPushed) {
        cells = new Map([...cells].map(([old, cell]) => [old + more, cell]))
        focused += more
        scrollBy(0, grid.place(Math.min(index + more, grid.count - 1)).top - oldTop)
      }
      showSummary()
    }
    if (batch.select.value === '' && !query.batch) setText(batch.select.options[0], arrangement.batch ? `Latest: ${arrangement.batch}` : 'The latest batch')
    if (isFirst) {
      isFirst = false
      begin()
    }
    render()
    load()
  }

  // The first answer is there: goes to where the address or the history says.
  const begin = () => {
    surface.classList.remove('blank')
    if (query.picture !== undefined) {
      // Its place is another in each order, and moves while pictures arrive.
      const index = pages.arrangement.place
      if (index === null) {
        note(address({ ...current(), picture: null }))
        return say('The picture of this address is not in this list.')
      }
      toView(index)
      showPicture(index)
    } else if (history.state?.scroll) {
      scrollTo(0, history.state.scroll)
    }
  }

  const toView = index => {
    const { top: place } = grid.place(index)
    const { top, bottom } = screen()
    const height = grid.pitch - grid.gap
    if (index < grid.columns) scrollTo(0, Math.min(scrollY, topOfSurface() + place + height + 8 <= innerHeight ? 0 : scrollY))
    else if (place - grid.head < top) scrollTo(0, topOfSurface() + place - grid.head - 8)
    else if (place + height > bottom) scrollTo(0, topOfSurface() + place + height + 8 - innerHeight)
  }

  const focusCell = index => {
    setFocused(index)
    toView(index)
    render()
    cells.get(index)?.open.focus({ preventScroll: true })
    onScroll()
  }

  surface.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !grid) return
    const cell = cells.get(focused)
    if (!cell?.element.contains(document.activeElement)) return
    if (event.key.toLowerCase() === 's' && cell.picture) {
      event.preventDefault()
      return toggleStar(cell.picture)
    }
    const next = grid.move(focused, event.key, Math.max(1, Math.floor((innerHeight - headHeight) / grid.pitch) - 1))
    if (next === null) return
    event.preventDefault()
    focusCell(next)
  })

  // Favourites. The star shows at once, and goes back when the server refuses it.
  const toggleStar = async picture => {
    if (!picture) return
    if (!mayChange()) return say('This window is read-only: favourites cannot be changed.')
    picture.favourite = !picture.favourite
    const showAgain = () => {
      for (const cell of cells.values()) redraw(cell)
      dialog?.redraw()
    }
    showAgain()
    try {
      await like(picture.id, picture.favourite)
      isWanted = true
    } catch (problem) {
      picture.favourite = !picture.favourite
      showAgain()
      say(problem.message)
    }
  }

  const waitFor = index => new Promise(done => {
    let tries = 0
    const look = () => {
      const picture = pages.at(index)
      if (picture || tries > 100) return done(picture)
      tries += 1
      if (!pages.isBusy) pages.ask(Math.floor(index / pageSize))
      setTimeout(look, 50)
    }
    look()
  })

  const openAbove = cell => {
    if (dialog) return
    step(address({ ...current(), picture: cell.picture.id }))
    showPicture(cell.index, true)
  }

  const showPicture = (index, hasStep = false) => {
    if (dialog) return
    isStep = hasStep
    const mine = dialog = openPicture({
      index, waitFor, indexOf: id => pages.indexOf(id), total: () => pages.arrangement.total, toggleStar,
      onMove: (place, picture) => {
        toView(place)
        onScroll()
        note(address({ ...current(), picture: picture?.id }))
      },
      onClose: (place, isLeaving) => {
        // Another address has taken the dialog's place.
        if (dialog !== mine) return
        dialog = null
        // A link of the dialog leads on from the picture, and Back leads to it again.
        if (isLeaving) return
        if (isStep && current().picture !== undefined) history.back()
        else note(address({ ...current(), picture: null }))
        if (root.isConnected && grid?.count) focusCell(Math.min(place, grid.count - 1))
      },
    })
  }

  const loadBatches = async () => {
    try {
      const { batches } = await get('/v1/batches', { limit: 100 })
      const names = batches.map(item => item.batch)
      if (choices.batch && !names.includes(choices.batch)) names.unshift(choices.batch)
      nameBatches(names)
      batch.select.value = query.batch ?? choices.batch ?? ''
    } catch { /* The gallery itself says what is wrong. */ }
  }

  const start = () => {
    pages?.close()
    for (const cell of cells.values()) release(cell)
    cells = new Map()
    grid = null
    isFirst = true
    focused = 0
    surface.style.height = ''
    keep(surface, [], item => item, () => null)
    // A run that shows itself begins with its own batch.
    choices = {
      batch: query.batch ?? session.batch ?? null, order: known(orders, query.order), by: known(groupings, query.by), favourites: query.favourites === 'true' ? 'true' : null,
    }
    order.select.value = choices.order
    by.select.value = choices.by
    onlyFavourites.setAttribute('aria-pressed', String(Boolean(choices.favourites)))
    nameBatches([...[...batch.select.options].map(option => option.value), choices.batch].filter(Boolean))
    batch.select.value = choices.batch ?? ''
    summary.dataset.key = ''
    setText(summary, 'Loading …')
    empty.hidden = true
    error.textContent = ''
    pages = makePages(choices, taken, problem => {
      if (!pages.arrangement) setText(summary, unknown)
      // Nothing changes by itself about a question that the server refused.
      isFailing = problem.status === 0 || problem.status >= 500
      error.textContent = problem.errorClass === 'no-such-batch' ? 'There is no such batch in this queue.' : problem.message
    })
    pages.ask(0, query.picture)
    loadBatches()
  }

  const observer = new ResizeObserver(() => {
    if (!grid || surface.clientWidth === 0 || surface.clientWidth === width) return
    const index = anchor()
    const isAtTop = screen().top <= 0
    arrange()
    if (!isAtTop && grid.count) scrollTo(0, topOfSurface() + grid.place(Math.min(index, grid.count - 1)).top - grid.head)
    render()
    onScroll()
  })
  observer.observe(root)
  addEventListener('scroll', onScroll, { passive: true })

  // At most once a second, and only while jobs are open or an event came, the page near the screen is asked for again.
  const ticker = setInterval(() => {
    if (document.hidden || live.isGone || live.away || !isOpen() || pages.isBusy) return
    const isLate = performance.now() - asked > 3000
    if (!isWanted && !pages.arrangement?.isReading && !(isLate && (isFailing || pages.arrangement?.waiting > 0))) return
    isWanted = false
    asked = performance.now()
    pages.ask(Math.min(Math.floor(anchor() / pageSize), Math.max(0, Math.floor(((pages.arrangement?.total ?? 1) - 1) / pageSize))))
  }, 1000)

  start()
  return {
    changed: next => {
      const isSame = sameList(query, next)
      query = next
      // Back closes a picture, and Forward opens it again. The list stays as it is.
      if (isSame && next.picture === undefined) {
        isStep = false
        dialog?.close()
        return true
      }
      const known = isSame && !dialog && pages.arrangement ? pages.indexOf(next.picture) : null
      if (known !== null && known !== undefined) {
        showPicture(known, true)
        return true
      }
      const old = dialog
      dialog = null
      old?.close()
      history.replaceState({ ...history.state, scroll: 0 }, '')
      scrollTo(0, 0)
      start()
      return true
    },
    update: () => { isWanted = true },
    close: () => {
      clearInterval(ticker)
      clearTimeout(settle)
      cancelAnimationFrame(frame)
      removeEventListener('scroll', onScroll)
      observer.disconnect()
      const old = dialog
      dialog = null
      old?.close()
      for (const cell of cells.values()) release(cell)
      pages.close()
    },
  }
}
