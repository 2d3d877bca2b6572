// Builds the elements of the page. A text only ever becomes a text node, so a stranger's text is never read as HTML.

const space = 'http://www.w3.org/2000/svg'

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener)
    } else if (name === 'value' || name === 'checked' || name === 'disabled') {
      element[name] = value
    } else {
      element.setAttribute(name, value === true ? '' : value)
    }
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false))
  return element
}

export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children)

export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(space, tag), attributes, children)

// Writing the same text again would make a screen reader and the layout do work for nothing.
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text
}

// The URL of a job is a stranger's text: only http and https become a link, and the other side learns nothing of this page.
export const foreignLink = url =>
  /^https?:\/\//i.test(url)
    ? make('a', { href: url, rel: 'noreferrer noopener', target: '_blank', class: 'url' }, url)
    : make('span', { class: 'url' }, url)

// Makes the children of an element follow a list. The element of a key stays the same, so focus and selection survive an update.
export const keep = (parent, items, keyOf, create, update = () => {}) => {
  parent.kept ??= new Map()
  const before = parent.kept
  const after = new Map()
  let place = parent.firstChild
  for (const item of items) {
    const key = keyOf(item)
    if (after.has(key)) continue
    const element = before.get(key) ?? create(item)
    after.set(key, element)
    update(element, item)
    if (element === place) place = place.nextSibling
    else parent.insertBefore(element, place)
  }
  for (const [key, element] of before) if (!after.has(key)) element.remove()
  parent.kept = after
}

// A table whose columns are { title, number, wide, cell(item, td) }. Columns marked wide are left out on a phone.
export const table = (caption, columns, keyOf) => {
  const kind = column => [column.number ? 'number' : '', column.wide ? 'wide' : '', column.name ?? ''].join(' ').trim() || null
  const body = make('tbody')
  const element = make('table', {},
    make('caption', { class: 'unseen' }, caption),
    make('thead', {}, make('tr', {}, columns.map(column => make('th', { scope: 'col', class: kind(column) }, column.title)))),
    body)
  const set = items => keep(body, items, keyOf,
    () => make('tr', {}, columns.map(column => make(column.isHeader ? 'th' : 'td', { scope: column.isHeader && 'row', class: kind(column) }))),
    (row, item) => {
      row.classList.toggle('troubled', Boolean(item.isTroubled))
      columns.forEach((column, index) => {
        const text = column.cell(item, row.cells[index])
        if (typeof text === 'string') setText(row.cells[index], text)
      })
    })
  return { element, set }
}

// Calls a task at once, and after further wishes no more often than that. The last wish is never lost.
export const atMost = (milliseconds, task) => {
  let last = -Infinity
  let timer = null
  const run = () => {
    timer = null
    last = performance.now()
    task()
  }
  return {
    wish: () => { timer ??= setTimeout(run, Math.max(0, last + milliseconds - performance.now())) },
    close: () => clearTimeout(timer),
  }
}

// A sentence about the result of an action. A screen reader reads it once.
let hush
export const say = text => {
  const said = document.getElementById('said')
  said.textContent = text
  said.classList.add('shown')
  clearTimeout(hush)
  hush = setTimeout(() => {
    said.classList.remove('shown')
    said.textContent = ''
  }, 8000)
}
