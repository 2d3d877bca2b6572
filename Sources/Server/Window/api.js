// The server's API: calls, problems, sign-in, and the events of a queue.

import { current } from './address.js'

export class Problem extends Error {
  constructor(status, errorClass, detail) {
    super(detail)
    this.status = status
    this.errorClass = errorClass
  }
}

export let session = null

const listeners = new Set()
// A listener gets 'session' when the session has changed, 'status' with each event, 'link' when the server or Redis goes or comes back.
export const listen = listener => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
const tell = news => { for (const listener of [...listeners]) listener(news) }

const path = (name, query) => {
  const words = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) if (value !== null && value !== undefined && value !== '') words.set(key, value)
  const text = words.toString()
  return text ? `${name}?${text}` : name
}

const problem = async answer => {
  let told = {}
  try { told = await answer.json() } catch { /* A proxy answers as it likes. */ }
  return new Problem(answer.status, String(told.class ?? 'http'), String(told.detail ?? told.title ?? `The server answered ${answer.status}.`))
}

const send = async (method, name, query, { signal, headers } = {}) => {
  let answer
  try {
    answer = await fetch(path(name, query), { method, signal, headers, credentials: 'same-origin', cache: 'no-store', redirect: 'error' })
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Problem(0, 'no-answer', 'The server does not answer.')
  }
  if (answer.ok) {
    if (answer.status === 204) return null
    try { return await answer.json() } catch (error) {
      if (error.name === 'AbortError') throw error
      throw new Problem(0, 'no-answer', "The server's answer broke off.")
    }
  }
  const refusal = await problem(answer)
  if (answer.status === 401 && session && name !== '/v1/session') {
    session = { ...session, needsToken: true, signedIn: false }
    close()
    setLink(false, null)
    tell('session')
  }
  throw refusal
}

const withQueue = query => ({ queue: current().queue, ...query })

export const get = (name, query, options) => send('GET', name, withQueue(query), options)
export const change = (method, name, query) => send(method, name, withQueue(query))

// Favourites are the server's, whatever the queue.
export const like = (id, isLiked) => send(isLiked ? 'PUT' : 'DELETE', `/v1/favourites/${encodeURIComponent(id)}`)

export const isOpen = () => session !== null && (!session.needsToken || session.signedIn)
export const mayChange = () => isOpen() && !session.readOnly
// After its end nobody works on a run's queue.
export const mayChangeQueue = () => mayChange() && !session.runEnded

export const begin = async () => {
  session = await send('GET', '/v1/session')
  return session
}

// The token goes into this header once. The browser then has a cookie that no script can read.
export const signIn = async token => {
  let headers
  try { headers = new Headers({ Authorization: `Bearer ${token}` }) } catch { throw new Problem(401, 'token', 'This is not the token.') }
  await send('POST', '/v1/session', {}, { headers })
  await begin()
  tell('session')
}

export const signOut = async () => {
  close()
  try { await send('DELETE', '/v1/session') } finally {
    await begin()
    tell('session')
  }
}

// The parts of a picture's path are encoded: an id is the server's, and may hold any character.
export const kept = (id, query) => path(`/v1/kept/${encodeURIComponent(id)}`, query)

// The events of the queue that the page shows.

export const live = { status: null, isGone: false, away: null, isEnding: false, refusal: null }

let source = null
let watched = null
let again = null

const close = () => {
  clearTimeout(again)
  source?.close()
  source = null
}

const setLink = (isGone, away) => {
  if (live.isGone === isGone && live.away === away) return
  live.isGone = isGone
  live.away = away
  tell('link')
}

const open = () => {
  close()
  const stream = new EventSource(path('/v1/events', { queue: current().queue }))
  source = stream
  stream.addEventListener('status', event => {
    if (source !== stream) return
    live.status = JSON.parse(event.data)
    live.isEnding = false
    setLink(false, null)
    tell('status')
  })
  stream.addEventListener('problem', event => {
    if (source !== stream) return
    setLink(false, String(JSON.parse(event.data).detail))
  })
  stream.addEventListener('ending', () => { live.isEnding = true })
  stream.addEventListener('error', () => {
    if (source !== stream) return
    setLink(true, live.away)
    // The browser connects again by itself, except after an answer that is no stream, such as 401.
    if (stream.readyState === EventSource.CLOSED) {
      close()
      again = setTimeout(retry, 2000)
    }
  })
}

const retry = async () => {
  try {
    await begin()
    if (!isOpen()) {
      setLink(false, null)
      return tell('session')
    }
    // A queue that cannot be is no outage.
    await get('/v1/history', { seconds: 1, steps: 1 })
    open()
  } catch (problem) {
    if (problem.status === 400) {
      live.refusal = problem.message
      return setLink(false, null)
    }
    again = setTimeout(retry, 2000)
  }
}

// Browsers allow a server six connections. A hidden page gives its connection back, so many open pages do not block each other.
export const watch = () => {
  const queue = current().queue ?? ''
  if (!isOpen() || document.hidden) return close()
  if (source && watched === queue) return
  if (watched !== queue) {
    live.status = null
    live.refusal = null
  }
  watched = queue
  open()
}

document.addEventListener('visibilitychange', watch)
