// Writes plain values as YAML, in the manner of the files that people write by hand. Reading it is left to the service.

type Value = string | number | boolean | null | undefined | Value[] | { [name: string]: Value };

// What a reader of YAML could take for something else than a text is put into quotes.
const plain = /^[A-Za-z][A-Za-z0-9 _./-]*[A-Za-z0-9_./-]$|^[A-Za-z]$/;
const word = /^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

function scalar(v: string | number | boolean | null): string {
  if (typeof v !== "string") return String(v);
  return /^[1-9]\d*[smhdw]$/.test(v) || (plain.test(v) && !word.test(v)) ? v : JSON.stringify(v);
}

/** key writes the name of a field: the service takes n for a name, whatever old YAML makes of it. */
const key = (k: string) => (plain.test(k) ? k : JSON.stringify(k));

const isList = (v: Value): v is Value[] => Array.isArray(v);
const isMap = (v: Value): v is { [name: string]: Value } => typeof v === "object" && v !== null && !Array.isArray(v);

const entries = (v: { [name: string]: Value }) =>
  Object.entries(v).filter((e): e is [string, Exclude<Value, undefined>] => e[1] !== undefined);

/** flow writes a value in one line. */
function flow(v: Value): string {
  if (isList(v)) return `[${v.map(flow).join(", ")}]`;
  if (isMap(v))
    return `{${entries(v)
      .map(([k, x]) => `${key(k)}: ${flow(x)}`)
      .join(", ")}}`;
  return scalar(v ?? null);
}

const wide = 100;

function block(v: Value, indent: string): string {
  const line = flow(v);
  const simple = !isMap(v) && !isList(v);
  if (simple || line.length + indent.length <= wide || line === "[]" || line === "{}") return ` ${line}\n`;
  return `\n${lines(v, `${indent}  `)}`;
}

function lines(v: Value, indent: string): string {
  if (isList(v)) {
    return v
      .map((x) => {
        const line = flow(x);
        if (!isMap(x) || line.length + indent.length <= wide) return `${indent}- ${line}\n`;
        return `${indent}- ${lines(x, `${indent}  `).trimStart()}`;
      })
      .join("");
  }
  if (isMap(v))
    return entries(v)
      .map(([k, x]) => `${indent}${key(k)}:${block(x, indent)}`)
      .join("");
  return `${indent}${flow(v)}\n`;
}

/** yaml writes a map; lists of maps have one line per entry. */
export function yaml(v: object): string {
  return entries(v as { [name: string]: Value })
    .map(([k, x]) => {
      if (isList(x) && x.some((e) => isMap(e))) return `${key(k)}:\n${lines(x, "  ")}`;
      return `${key(k)}:${block(x, "")}`;
    })
    .join("");
}
