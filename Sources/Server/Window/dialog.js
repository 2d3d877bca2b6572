// Asks before a change, and shows how far a change of many jobs has come.

import { make, setText } from './elements.js'

// Resolves to true when the user has agreed. Escape and the cancel button mean no.
export const confirm = ({ title, sentences, action, isGrave }) => new Promise(done => {
  const dialog = make('dialog', { class: 'question', 'aria-labelledby': 'question' },
    make('h2', { id: 'question' }, title),
    sentences.map(sentence => make('p', {}, sentence)),
    make('div', { class: 'buttons' },
      make('button', { type: 'button', on: { click: () => dialog.close('no') } }, 'Cancel'),
      make('button', { type: 'button', class: isGrave ? 'grave' : 'main', on: { click: () => dialog.close('yes') } }, action)))
  dialog.addEventListener('close', () => {
    dialog.remove()
    done(dialog.returnValue === 'yes')
  })
  document.body.append(dialog)
  dialog.showModal()
})

// Runs a task for each item, a few at a time, behind a dialog that can stop it. Returns the results, and the errors.
export const forEach = async (title, items, task) => {
  const text = make('p', {}, `0 of ${items.length}`)
  const bar = make('progress', { max: items.length, 'aria-label': title })
  bar.value = 0
  let isStopped = false
  const dialog = make('dialog', { class: 'question', 'aria-labelledby': 'work' },
    make('h2', { id: 'work' }, title), text, bar,
    make('div', { class: 'buttons' }, make('button', { type: 'button', on: { click: () => { isStopped = true } } }, 'Stop')))
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    isStopped = true
  })
  document.body.append(dialog)
  dialog.showModal()
  const results = []
  const errors = []
  let next = 0
  const work = async () => {
    while (next < items.length && !isStopped) {
      const item = items[next++]
      try { results.push(await task(item)) } catch (error) {
        errors.push(error)
        if (error.status === 401 || error.status === 0) isStopped = true
      }
      bar.value = results.length + errors.length
      setText(text, `${results.length + errors.length} of ${items.length}`)
    }
  }
  await Promise.all([work(), work(), work(), work()])
  dialog.close()
  dialog.remove()
  return { results, errors, isStopped }
}
