/** Line is a series that a chart draws. */
export interface Line {
  label: string;
  unit?: string;
  /** Pairs of epoch seconds and value; null is a gap. Where nothing came for long, a gap is made. */
  points: [number, number | null][];
  /** Time, lowest and highest of each point, for summaries. */
  band?: [number, number, number][];
}

/** Level is a height that a chart marks. */
export interface Level {
  value: number;
  status: string;
  label: string;
}
