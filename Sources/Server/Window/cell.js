// One cell of the gallery: a placeholder while its picture waits or loads, the picture, or why there is none.

import { kept, mayChange, session } from './api.js'
import { make, svg } from './elements.js'
import { brokenPicture } from './picture.js'

const thumbnailSides = [120, 160, 240, 320, 480, 640]
// A busy server may refuse a picture that it gives a moment later.
const secondTry = 4000

export const star = () => svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
  svg('path', { d: 'M12 3.200l2.700 5.600 6.100.8-4.500 4.200 1.100 6.100L12 16.900l-5.400 3 1.100-6.100L3.200 9.600l6.100-.8z' }))

// The listeners get the cell. A cell keeps its element while it moves to another index.
export const makeCell = ({ onOpen, onFocus, onStar }) => {
  const face = make('span', { class: 'face' })
  const open = make('button', { type: 'button', class: 'open', tabindex: '-1' }, face)
  const mark = make('button', { type: 'button', class: 'star', tabindex: '-1', 'aria-label': 'Favourite' }, star())
  const element = make('div', { class: 'cell', role: 'listitem' }, open, mark)
  const cell = { element, face, open, mark, look: '', picture: null, wanted: null, isGone: false, retry: null }
  open.addEventListener('click', () => onOpen(cell))
  open.addEventListener('focus', () => onFocus(cell))
  mark.addEventListener('click', () => onStar(cell))
  return cell
}

const clear = cell => {
  clearTimeout(cell.retry)
  // An image without its source stops loading, and its memory is free.
  cell.face.querySelector('img')?.removeAttribute('src')
}

export const release = cell => {
  clear(cell)
  cell.element.remove()
}

const show = (cell, kind, ...content) => {
  cell.element.classList.remove('waiting', 'loading', 'failed', 'gone')
  if (kind) cell.element.classList.add(kind)
  cell.face.replaceChildren(...content)
}

const small = text => make('span', { class: 'small' }, text)

const name = (cell, isWaiting) => {
  const { picture } = cell
  if (!picture) return isWaiting ? 'Waiting' : 'Loading'
  const words = picture.failed ? `Failed: ${picture.error?.class ?? ''}, ${picture.url}` : cell.isGone ? `Cannot be shown: ${picture.url}` : `Picture ${picture.url}`
  return picture.favourite ? `${words}, favourite` : words
}

const label = (cell, isWaiting) => {
  const text = name(cell, isWaiting)
  if (cell.open.getAttribute('aria-label') !== text) cell.open.setAttribute('aria-label', text)
}

// Draws the content of a cell. A cell that shows it already is left alone.
export const draw = (cell, picture, isWaiting) => {
  cell.picture = picture
  const look = isWaiting ? 'waiting' : picture ? `${picture.id} ${picture.failed}` : 'loading'
  if (look !== cell.look) {
    clear(cell)
    cell.look = look
    cell.isGone = false
    cell.wanted = picture && !picture.failed ? picture : null
    if (isWaiting) show(cell, 'waiting', small('waiting'))
    else if (picture?.failed) show(cell, 'failed', brokenPicture(), make('strong', {}, picture.error?.class ?? 'failed'), small(picture.host))
    else show(cell, 'loading')
  }
  cell.element.classList.toggle('favourite', Boolean(picture?.favourite))
  cell.mark.hidden = !picture || !mayChange()
  cell.mark.setAttribute('aria-pressed', String(Boolean(picture?.favourite)))
  cell.open.setAttribute('aria-disabled', String(!picture))
  label(cell, isWaiting)
}

// Asks for the picture of a cell, at about the size of the cell.
export const loadImage = (cell, width, isSecond = false) => {
  const picture = cell.wanted
  cell.wanted = null
  const pixels = width * Math.min(2, devicePixelRatio || 1)
  const side = thumbnailSides.find(item => item >= pixels) ?? thumbnailSides.at(-1)
  const image = make('img', { alt: '', decoding: 'async', draggable: 'false' })
  const isCurrent = () => image.getAttribute('src') && cell.picture?.id === picture.id
  image.addEventListener('load', () => {
    if (!isCurrent()) return
    if (isSecond) show(cell, null, image)
    cell.isGone = false
    cell.element.classList.remove('loading')
    label(cell, false)
  })
  image.addEventListener('error', () => {
    if (isSecond || !isCurrent()) return
    cell.isGone = true
    show(cell, 'gone', brokenPicture(), small('cannot be shown'))
    label(cell, false)
    cell.retry = setTimeout(() => {
      if (cell.picture?.id !== picture.id) return
      cell.wanted = picture
      loadImage(cell, width, true)
    }, secondTry)
  })
  // No thumbnail is made of a drawing. Browsers show one in an image without running its scripts.
  const isSmall = session.thumbnails && picture.type !== 'image/svg+xml'
  image.src = kept(picture.id, { digest: picture.digest, ...(isSmall && { width: side, height: side, fit: 'cover' }) })
  if (!isSecond) cell.face.replaceChildren(image)
}
