// The parts of a grid. They are no table: of a table that is mostly not there, a browser makes no sense.
import type { ComponentProps } from "react";

type Role = "grid" | "rowgroup" | "row" | "gridcell" | "columnheader";

export function Part(props: ComponentProps<"div"> & { role: Role }) {
  return <div {...props} />;
}
