// Numbers, times and names as people read them.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation: 'compact' })
const tenth = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })

export const unknown = '–'

export const number = value => (value === null || value === undefined ? unknown : whole.format(value))

export const compact = value => (value === null || value === undefined ? unknown : short.format(value))

export const rate = value => {
  if (value === null || value === undefined) return unknown
  return value > 0 && value < 100 ? tenth.format(value) : whole.format(value)
}

export const percent = value => {
  if (value === null || value === undefined) return unknown
  // Neither "0 %" nor "100 %" may stand for nearly.
  if (value > 0 && value < 0.01) return '< 1 %'
  if (value < 1 && value > 0.99) return '99 %'
  return `${Math.round(value * 100)} %`
}

export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`

export const bytes = value => {
  if (value === null || value === undefined) return unknown
  let size = value
  for (const unit of ['bytes', 'kB', 'MB', 'GB', 'TB']) {
    if (size < 999.5 || unit === 'TB') {
      if (unit === 'bytes') return count(value, 'byte')
      return `${size < 9.95 ? tenth.format(size) : whole.format(size)} ${unit}`
    }
    size /= 1000
  }
}

export const duration = seconds => {
  if (seconds === null || seconds === undefined) return unknown
  if (seconds < 0) seconds = 0
  if (seconds < 1) return seconds < 0.001 ? '0 s' : `${Math.max(1, Math.round(seconds * 1000))} ms`
  if (seconds < 9.95) return `${tenth.format(seconds)} s`
  if (seconds < 119.5) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  if (seconds < 172_800) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${number(Math.round(seconds / 86_400))} days`
}

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const momentFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const dayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const weekFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' })

const dated = (format, value) => {
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? unknown : format.format(date)
}

export const clock = value => dated(clockFormat, value)
export const moment = value => dated(momentFormat, value)

export const sectionTitle = (start, by) => {
  if (start === null) return 'Without a time'
  if (by === 'month') return dated(monthFormat, start)
  return by === 'week' ? `Week of ${dated(weekFormat, start)}` : dated(dayFormat, start)
}

export const minutesEast = -new Date().getTimezoneOffset()

// The moment that lies so many seconds back.
export const ago = seconds => (seconds === null || seconds === undefined ? unknown : `${duration(seconds)} ago`)

export const states = [
  { name: 'ready', label: 'Ready', about: 'wait for a worker, or for their host to have room', one: 'It waits for a worker, or for its host to have room.' },
  { name: 'active', label: 'Active', about: 'are held by a worker', one: 'A worker holds it.' },
  { name: 'parked', label: 'Parked', about: 'wait for another fetch of the same URL', one: 'It waits for another fetch of the same URL.' },
  { name: 'delayed', label: 'Delayed', about: 'wait for their retry, or for the time that they were enqueued with', one: 'It waits for its retry, or for the time that it was enqueued with.' },
  { name: 'dead', label: 'Dead', about: 'were given up', one: 'It was given up.' },
]

export const openJobs = jobs => jobs.ready + jobs.active + jobs.parked + jobs.delayed
