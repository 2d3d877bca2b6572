// The address of a view. All choices of a view stand in the query of `/`, so an address can be shared and survives a reload.

export const current = () => Object.fromEntries(new URLSearchParams(location.search))

export const address = words => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(words)) if (value !== null && value !== undefined && value !== '' && value !== false) query.set(name, value)
  const text = query.toString()
  return text ? `/?${text}` : '/'
}

// An address of another view. The queue stays the same.
export const view = (name, words = {}) => address({ view: name === 'overview' ? null : name, queue: current().queue, ...words })

let listener = () => {}
export const onMove = next => { listener = next }

export const go = (to, { replaces = false } = {}) => {
  history[replaces ? 'replaceState' : 'pushState'](replaces ? history.state : null, '', to)
  listener()
}

// A step of its own in the history, for a thing that is open above the view. Back closes it.
export const step = to => history.pushState(null, '', to)

// Notes a choice in the address. The view that made the choice shows it already.
export const note = to => history.replaceState(history.state, '', to)

export const listen = () => {
  history.scrollRestoration = 'manual'
  addEventListener('popstate', () => listener())
  document.addEventListener('click', event => {
    const link = event.target.closest?.('a[href^="/?"], a[href="/"]')
    if (!link || link.target || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(link.getAttribute('href'))
  })
}
