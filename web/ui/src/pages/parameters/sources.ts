// Where a definition comes from, in words.
import type { Source } from "../../api";

export const sourceName: Record<Source, string> = {
  builtin: "built in",
  file: "from a file",
  customer: "your own",
  inferred: "inferred from rows",
};
