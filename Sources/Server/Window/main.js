// The frame of the window: which view the address names, the queue, sign-in, and what the server says of itself.

import { address, current, go, listen as listenToAddress, onMove, view } from './address.js'
import * as api from './api.js'
import * as batches from './batches.js'
import { keep, make, say, setText } from './elements.js'
import * as gallery from './gallery.js'
import * as job from './job.js'
import * as jobs from './jobs.js'
import * as overview from './overview.js'
import { number } from './words.js'

const views = { overview, jobs, job, batches, pictures: gallery }
const tabs = [['overview', 'Overview'], ['jobs', 'Jobs'], ['batches', 'Batches'], ['pictures', 'Pictures']]

const main = document.getElementById('main')
const nav = document.getElementById('views')
const aside = document.getElementById('aside')
const banners = document.getElementById('banners')

let shown = null
let shownQueue

const viewName = () => {
  const name = current().view ?? 'overview'
  return name in views ? name : 'overview'
}

const leave = () => {
  shown?.close?.()
  shown = null
  main.replaceChildren()
}

// Shows the view of the address. A view that is shown already may follow its new address by itself.
const render = ({ isMove = true } = {}) => {
  frame()
  if (!api.session) return
  if (!api.isOpen()) {
    leave()
    return showSignIn()
  }
  api.watch()
  const name = viewName()
  const queue = current().queue
  const isSame = shown?.name === name && shownQueue === queue
  if (isSame && shown.changed?.(current())) return
  leave()
  shownQueue = queue
  const section = make('div', { class: `view ${name}` })
  main.append(section)
  shown = { ...views[name].show(section, current()), name }
  document.title = `${section.querySelector('h1')?.textContent ?? 'Gannet'} · Gannet`
  if (api.live.status) shown.update?.(api.live.status)
  if (isMove) {
    scrollTo(0, 0)
    const heading = section.querySelector('h1')
    heading?.setAttribute('tabindex', '-1')
    heading?.focus({ preventScroll: true })
  }
}

const frame = () => {
  const isOpen = api.isOpen()
  const name = viewName()
  nav.hidden = !isOpen
  keep(nav, tabs, tab => tab[0], ([, title]) => make('a', {}, title), (link, [key]) => {
    link.setAttribute('href', view(key))
    if (key === name || (key === 'jobs' && name === 'job')) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  })
  document.querySelector('.brand').setAttribute('href', view('overview'))
  if (!isOpen) return aside.replaceChildren()
  if (!aside.firstChild) aside.append(queueChoice.element, make('span', { class: 'badge', id: 'read-only' }, 'Read-only'), signOut)
  document.getElementById('read-only').hidden = !api.session.readOnly
  signOut.hidden = !api.session.needsToken
  queueChoice.update()
}

const queueChoice = (() => {
  const select = make('select', { id: 'queue', on: { change: () => {
    const queue = select.value === api.session.queue ? null : select.value
    go(address({ view: current().view, queue }))
  } } })
  const element = make('label', { class: 'queue', for: 'queue' }, 'Queue ', select)
  const update = () => {
    const chosen = current().queue ?? api.session.queue
    const others = (api.live.status?.otherQueues ?? []).map(queue => ({ name: queue.queue, text: `${queue.queue} (${number(queue.notEnded)} open)` }))
    const names = [chosen, api.session.queue].map(name => ({ name, text: name }))
    keep(select, [...names, ...others].filter((queue, index, all) => all.findIndex(other => other.name === queue.name) === index), queue => queue.name,
      queue => make('option', { value: queue.name }), (option, queue) => setText(option, queue.text))
    select.value = chosen
  }
  return { element, update }
})()

const signOut = make('button', { type: 'button', class: 'quiet', on: { click: async () => {
  try { await api.signOut() } catch (error) { say(error.message) }
} } }, 'Sign out')

const showSignIn = () => {
  const field = make('input', { id: 'token', type: 'password', required: true, autocomplete: 'current-password', spellcheck: 'false', 'aria-describedby': 'token-help token-error' })
  const wrong = make('p', { id: 'token-error', class: 'error', role: 'alert' })
  const button = make('button', { type: 'submit', class: 'main' }, 'Sign in')
  const submit = async event => {
    event.preventDefault()
    button.disabled = true
    wrong.textContent = ''
    try {
      await api.signIn(field.value.trim())
    } catch (error) {
      wrong.textContent = error.status === 401 ? 'The server does not know this token.' : error.message
      field.select()
      field.focus()
    }
    button.disabled = false
  }
  main.append(make('form', { class: 'sign-in', on: { submit } },
    make('h1', {}, 'Sign in'),
    make('p', { id: 'token-help' }, 'This server needs a token. The operator who started ', make('code', {}, 'gannet serve'), ' has it.'),
    make('label', { for: 'token' }, 'Token'), field, wrong, button))
  document.title = 'Sign in · Gannet'
  field.focus()
}

const showBanners = () => {
  const texts = api.live.refusal ? [api.live.refusal] : []
  if (api.live.isGone && api.live.isEnding && api.session?.batch) texts.push('The run has ended, and this window with it. Its files are in its folder; the page shows the last known numbers.')
  else if (api.live.isGone) texts.push('The server does not answer. Trying again …')
  else if (api.live.away) texts.push(`${api.live.away.startsWith('Redis') ? '' : 'Redis is away: '}${api.live.away}${api.live.status ? ' The page shows the last known numbers.' : ''}`)
  keep(banners, texts, text => text, text => make('p', { class: 'banner' }, text))
}

const begin = async () => {
  try {
    await api.begin()
    api.live.isGone = false
    showBanners()
    render({ isMove: false })
  } catch {
    api.live.isGone = true
    showBanners()
    setTimeout(begin, 2000)
  }
}

api.listen(news => {
  if (news === 'session') render()
  if (news === 'link') showBanners()
  if (news === 'status' && api.isOpen()) {
    queueChoice.update()
    shown?.update?.(api.live.status)
  }
})
onMove(render)
// A jump to '#main' would become a part of the address.
document.querySelector('.skip').addEventListener('click', event => {
  event.preventDefault()
  main.focus()
})
listenToAddress()
begin()
