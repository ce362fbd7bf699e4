// A chart of values over time. uPlot is loaded with the first chart.

export interface Line {
  label: string;
  unit?: string;
  /** Pairs of epoch seconds and value; null is a gap. */
  points: [number, number | null][];
  /** Lowest and highest of each point, for summaries. */
  band?: [number, number, number][];
}

export interface Level {
  value: number;
  status: string;
  label: string;
}

export interface ChartProps {
  lines: Line[];
  /** Epoch seconds. */
  from: number;
  to: number;
  height?: number;
  levels?: Level[];
  onZoom?: (from: number, to: number) => void;
}

export function Chart(_: ChartProps) {
  return null;
}
