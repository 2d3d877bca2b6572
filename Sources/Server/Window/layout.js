// Where the cells of the gallery lie. Only numbers go in and come out: nothing here knows of elements.

export const headHeight = 52
// Browsers draw no element that is higher than some 16 million pixels.
const highest = 15_000_000

const columnsFor = width => (width >= 860 ? 5 : width >= 600 ? 4 : width >= 270 ? 3 : 2)

// A block is a section with its cells. Cells of jobs that wait come behind the last one, and in a block of their own when there are sections.
export const layout = ({ sections, waiting, hasHeads, width }) => {
  const columns = columnsFor(width)
  const gap = width >= 600 ? 10 : 4
  const side = Math.max(24, Math.floor((width - gap * (columns - 1)) / columns))
  const blocks = []
  let first = 0
  for (const { start, count } of sections) {
    if (count > 0) blocks.push({ key: start ?? 'none', start, first, count, isWaiting: false })
    first += Math.max(0, count)
  }
  if (waiting > 0) {
    if (!hasHeads && blocks.length) blocks.at(-1).count += waiting
    else blocks.push({ key: 'waiting', start: null, first, count: waiting, isWaiting: true })
  }
  const head = hasHeads ? headHeight : 0
  const rows = blocks.reduce((sum, block) => sum + Math.ceil(block.count / columns), 0)
  const pitch = Math.max(24, Math.min(side + gap, Math.floor((highest - blocks.length * head) / Math.max(1, rows))))
  let top = 0
  for (const block of blocks) {
    block.top = top
    block.height = head + Math.ceil(block.count / columns) * pitch
    top += block.height
  }
  const count = first + Math.max(0, waiting)

  // The last block for which a test holds that holds for all before it.
  const last = test => {
    let low = 0
    let high = blocks.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (test(blocks[middle])) low = middle
      else high = middle - 1
    }
    return low
  }
  const blockOf = index => blocks[last(block => block.first <= index)]

  const place = index => {
    const block = blockOf(index)
    const row = Math.floor((index - block.first) / columns)
    return { block, row, column: (index - block.first) % columns, top: block.top + head + row * pitch }
  }

  // The parts of blocks between two heights: the block, its first cell there, and the cell behind its last.
  const between = (from, to) => {
    const parts = []
    if (!blocks.length) return parts
    for (let number = last(block => block.top <= from); number < blocks.length && blocks[number].top < to; number += 1) {
      const block = blocks[number]
      const firstRow = Math.max(0, Math.floor((from - block.top - head) / pitch))
      const endRow = Math.max(0, Math.ceil((to - block.top - head) / pitch))
      const begin = block.first + Math.min(block.count, firstRow * columns)
      parts.push({ block, begin, end: Math.max(begin, block.first + Math.min(block.count, endRow * columns)) })
    }
    return parts
  }

  // The cell that a key leads to.
  const move = (index, key, rowsOnScreen) => {
    const vertical = (from, rowsDown) => {
      const here = place(from)
      const row = here.row + rowsDown
      const rowsOfBlock = Math.ceil(here.block.count / columns)
      if (row >= 0 && row < rowsOfBlock) return Math.min(here.block.first + row * columns + here.column, here.block.first + here.block.count - 1)
      const number = blocks.indexOf(here.block) + Math.sign(rowsDown)
      const block = blocks[number]
      if (!block) return rowsDown < 0 ? here.block.first + here.column : here.block.first + here.block.count - 1
      const edge = rowsDown < 0 ? Math.ceil(block.count / columns) - 1 : 0
      return Math.min(block.first + edge * columns + here.column, block.first + block.count - 1)
    }
    const target = {
      ArrowLeft: () => index - 1, ArrowRight: () => index + 1, ArrowUp: () => vertical(index, -1), ArrowDown: () => vertical(index, 1),
      PageUp: () => vertical(index, -rowsOnScreen), PageDown: () => vertical(index, rowsOnScreen), Home: () => 0, End: () => count - 1,
    }[key]
    return target ? Math.max(0, Math.min(count - 1, target())) : null
  }

  return { columns, gap, side, pitch, head, blocks, count, height: top, place, between, move }
}
