// One picture in a dialog, with its facts. Arrow keys lead on, S stars, Escape closes.

import { view } from './address.js'
import { kept, mayChange } from './api.js'
import { foreignLink, make, setText, svg } from './elements.js'
import { bytes, duration, moment, number } from './words.js'

export const brokenPicture = () => svg('svg', { class: 'broken', viewBox: '0 0 48 48', 'aria-hidden': 'true' },
  svg('path', { d: 'M20 9H6v30h12 M30 9h12v30H26 M6 34l9-9 5 5 M42 30l-7-7-5 5 M26 4l-6 12 7 6-8 10 5 5-2 7' }), svg('circle', { cx: 13, cy: 18, r: 2.5 }))

export const openPicture = ({ index: first, waitFor, indexOf, total, toggleStar, onMove, onClose }) => {
  let index = first
  let picture = null
  let image = null
  let dimensions = null
  let turn = 0
  let isLeaving = false

  const place = make('p', { class: 'place', role: 'status' })
  const button = (text, key, act) => make('button', { type: 'button', 'aria-keyshortcuts': key, title: `${text} (${key})`, on: { click: act } }, text)
  const previous = button('Previous', 'ArrowLeft', () => move(-1))
  const next = button('Next', 'ArrowRight', () => move(1))
  const star = button('Star', 's', () => picture && toggleStar(picture))
  const close = button('Close', 'Escape', () => dialog.close())
  const stage = make('div', { class: 'stage' })
  const facts = make('div', { class: 'side' })
  const dialog = make('dialog', { class: 'picture', 'aria-label': 'Picture', tabindex: '-1', autofocus: true },
    make('div', { class: 'buttons' }, previous, next, place, star, close), make('div', { class: 'both' }, stage, facts))

  const showFacts = () => {
    if (!picture) return facts.replaceChildren()
    const age = (Date.now() - new Date(picture.endedAt).getTime()) / 1000
    const rows = [
      ['Source', foreignLink(picture.url)], ['Host', picture.host],
      picture.failed ? null : ['Dimensions', dimensions ?? '…'],
      picture.bytes === null ? null : ['Length', `${bytes(picture.bytes)}${picture.bytes >= 1000 ? ` (${number(picture.bytes)} bytes)` : ''}`],
      picture.type === null ? null : ['Type', picture.type],
      picture.httpStatus === null ? null : ['HTTP status', String(picture.httpStatus)],
      [picture.failed ? 'Failed' : 'Fetched', `${duration(age)} ago, ${moment(picture.endedAt)}`],
      picture.digest === null ? null : ['SHA-256', make('code', { class: 'digest' }, picture.digest)],
      mayChange() ? null : ['Favourite', picture.favourite ? 'yes' : 'no'],
    ]
    facts.replaceChildren(make('dl', { class: 'facts' }, rows.filter(Boolean).map(([title, value]) => make('div', {}, make('dt', {}, title), make('dd', {}, value)))),
      make('p', {}, make('a', { href: view('job', { url: picture.url, state: picture.failed ? 'dead' : null }), on: { click: () => {
        isLeaving = true
        dialog.close()
      } } }, 'What is known of this URL')))
  }

  const showFailure = (title, sentence) => {
    stage.replaceChildren(make('div', { class: 'failed' }, brokenPicture(), make('strong', {}, title), make('p', {}, sentence)))
  }

  // An image element does not say why it stayed empty, so the server is asked for the reason.
  const showReason = async () => {
    const mine = turn
    let sentence = 'The browser cannot read this as a picture.'
    const stopping = new AbortController()
    try {
      const answer = await fetch(kept(picture.id), { credentials: 'same-origin', signal: stopping.signal })
      if (!answer.ok) sentence = String((await answer.json()).detail)
    } catch { sentence = 'The server does not answer.' }
    stopping.abort()
    if (mine !== turn) return
    dimensions = 'unknown'
    showFailure('Cannot be shown', sentence)
    showFacts()
  }

  const redraw = () => {
    star.hidden = !mayChange()
    star.setAttribute('aria-pressed', String(Boolean(picture?.favourite)))
    setText(star, picture?.favourite ? '★ Starred' : '☆ Star')
    // A disabled button would lose the focus, and the keys with it.
    previous.setAttribute('aria-disabled', String(index <= 0))
    next.setAttribute('aria-disabled', String(index >= total() - 1))
    star.setAttribute('aria-disabled', String(picture === null))
    setText(place, `${number(index + 1)} of ${number(total())}`)
  }

  const draw = async () => {
    const mine = turn += 1
    picture = null
    dimensions = null
    image?.removeAttribute('src')
    image = null
    stage.replaceChildren(make('p', { class: 'none' }, 'Loading …'))
    redraw()
    const found = await waitFor(index)
    if (mine !== turn || !dialog.open) return
    picture = found
    redraw()
    showFacts()
    onMove(index, picture)
    if (!picture) return showFailure('Cannot be shown', 'The server did not send this part of the list.')
    if (picture.failed) return showFailure(picture.error?.class ?? 'failed', picture.error?.message ?? '')
    const shown = image = make('img', { alt: `Picture of ${picture.url}`, decoding: 'async' })
    image.addEventListener('load', () => {
      if (mine !== turn) return
      dimensions = `${number(shown.naturalWidth)} × ${number(shown.naturalHeight)} pixels`
      stage.replaceChildren(shown)
      showFacts()
    })
    image.addEventListener('error', () => { if (mine === turn && shown.getAttribute('src')) showReason() })
    image.src = kept(picture.id, { digest: picture.digest })
  }

  // New pictures may have pushed this one to another place meanwhile.
  const move = step => {
    const here = picture ? indexOf(picture.id) ?? index : index
    const there = Math.max(0, Math.min(total() - 1, here + step))
    if (there === index && picture) return
    index = there
    draw()
  }

  dialog.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const act = {
      ArrowLeft: () => move(-1), ArrowRight: () => move(1), Home: () => move(-Infinity), End: () => move(Infinity), s: () => picture && toggleStar(picture), S: () => picture && toggleStar(picture),
    }[event.key]
    if (!act) return
    event.preventDefault()
    act()
  })
  dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close() })
  dialog.addEventListener('close', () => {
    turn += 1
    image?.removeAttribute('src')
    dialog.remove()
    onClose(picture ? indexOf(picture.id) ?? index : index, isLeaving)
  })
  document.body.append(dialog)
  dialog.showModal()
  draw()
  return { close: () => dialog.close(), redraw }
}
