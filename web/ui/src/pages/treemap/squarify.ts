// Rectangles whose areas are as given and whose sides are as equal as can be (Bruls, Huizing, van Wijk: Squarified Treemaps).

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Row is what has an area among the rectangles that are laid side by side. */
interface Row {
  sum: number;
  max: number;
  min: number;
}

const none: Row = { sum: 0, max: 0, min: Number.POSITIVE_INFINITY };
const withOne = (r: Row, a: number): Row => ({ sum: r.sum + a, max: Math.max(r.max, a), min: Math.min(r.min, a) });

/** worst is how far from a square the rectangles of a row are, laid along a side. */
const worst = ({ sum, max, min }: Row, side: number) =>
  Math.max((side * side * max) / (sum * sum), (sum * sum) / (side * side * min));

/**
 * squarify divides a rectangle among sizes, in their order, and gives a rectangle for each. It is best when the sizes fall. A
 * size of nothing gets a rectangle without area.
 */
export function squarify(sizes: number[], into: Rect): Rect[] {
  const total = sizes.reduce((a, b) => a + Math.max(0, b), 0);
  if (!(total > 0) || into.width <= 0 || into.height <= 0)
    return sizes.map(() => ({ x: into.x, y: into.y, width: 0, height: 0 }));
  const areas = sizes.map((s) => (Math.max(0, s) / total) * into.width * into.height);
  const out: Rect[] = [];
  let free = { ...into };
  let row: number[] = [];
  let weight = none;
  const lay = () => {
    const { sum } = weight;
    const along = Math.min(free.width, free.height);
    const thick = along > 0 ? sum / along : 0;
    const upright = free.width >= free.height;
    let at = upright ? free.y : free.x;
    for (const area of row) {
      const long = thick > 0 ? area / thick : 0;
      out.push(
        upright ? { x: free.x, y: at, width: thick, height: long } : { x: at, y: free.y, width: long, height: thick },
      );
      at += long;
    }
    free = upright
      ? { ...free, x: free.x + thick, width: Math.max(0, free.width - thick) }
      : { ...free, y: free.y + thick, height: Math.max(0, free.height - thick) };
    row = [];
    weight = none;
  };
  for (const area of areas) {
    const side = Math.min(free.width, free.height);
    // Rows are weighed by what has an area; what has none goes where its neighbour goes.
    if (weight.sum > 0 && area > 0 && worst(withOne(weight, area), side) > worst(weight, side)) lay();
    row.push(area);
    if (area > 0) weight = withOne(weight, area);
  }
  if (row.length) lay();
  return out;
}
