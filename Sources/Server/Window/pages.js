// The pages of the gallery's pictures that the server has sent: those near the screen, and a few others.

import { get } from './api.js'
import { minutesEast } from './words.js'

export const pageSize = 200
const mostPages = 12

// `taken` is called with what an answer changed: { isOther: another batch, isChanged: another arrangement, before }.
export const makePages = (choices, taken, failed) => {
  const pages = new Map()
  const loading = new Map()
  let serial = 0
  let answered = 0
  let arrangement = null

  // `wanted`: a picture whose place the answer is to tell.
  const ask = async (number, wanted = null) => {
    if (loading.has(number)) return
    const stopping = new AbortController()
    loading.set(number, stopping)
    const mine = serial += 1
    try {
      const answer = await get('/v1/pictures', { ...choices, east: choices.by && minutesEast, picture: wanted, first: number * pageSize, count: pageSize }, { signal: stopping.signal })
      if (stopping.signal.aborted) return
      loading.delete(number)
      const before = arrangement
      const isChanged = before === null || answer.revision !== before.revision || answer.batch !== before.batch
      // An answer that was overtaken by a newer one says nothing.
      if (isChanged && mine < answered) return
      answered = Math.max(answered, mine)
      const isOther = before !== null && answer.batch !== before.batch
      if (isOther) pages.clear()
      if (isChanged) for (const page of pages.values()) page.isOld = true
      const { pictures, ...rest } = answer
      arrangement = rest
      pages.set(number, { pictures, isOld: false })
      const far = [...pages.keys()].sort((one, other) => Math.abs(other - number) - Math.abs(one - number))
      while (pages.size > mostPages) pages.delete(far.shift())
      const isMoved = isChanged || rest.waiting !== before.waiting || rest.isReading !== before.isReading || rest.total !== before.total
      taken({ isOther, isMoved, before })
    } catch (problem) {
      if (stopping.signal.aborted) return
      loading.delete(number)
      failed(problem)
    }
  }

  return {
    get arrangement() { return arrangement },
    at: index => pages.get(Math.floor(index / pageSize))?.pictures[index % pageSize] ?? null,
    indexOf: id => {
      for (const [number, page] of pages) {
        const index = page.pictures.findIndex(picture => picture.id === id)
        if (index >= 0) return number * pageSize + index
      }
      return null
    },
    // Asks for what is missing or old, and stops asking for the rest.
    need: numbers => {
      for (const [number, stopping] of loading) {
        if (numbers.has(number)) continue
        stopping.abort()
        loading.delete(number)
      }
      for (const number of numbers) if (!pages.has(number) || pages.get(number).isOld) ask(number)
    },
    ask,
    get isBusy() { return loading.size > 0 },
    close: () => {
      for (const stopping of loading.values()) stopping.abort()
      loading.clear()
      pages.clear()
    },
  }
}
