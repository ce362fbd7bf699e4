// One answer to one question of a package, in a form. What is typed goes out as it is: the service says what is wrong with it.
import { PasswordInput, Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Question, sql } from "../../api";

interface Props {
  question: Question;
  value: string;
  onChange: (value: string) => void;
  error?: string;
  /** Without: the cell keeps what it has when it is empty. */
  required?: boolean;
  /** Typing begins here. */
  focus?: boolean;
}

const shapes: Record<string, string> = {
  duration: "60s, 5m, 1h",
  host: "192.0.2.1 or a host name",
  ip: "192.0.2.1",
  listen: "0.0.0.0:514",
  colour: "#rrggbb",
};

/** within says which numbers are taken. */
export function within(q: Question): string {
  const range = q.min !== undefined && q.max !== undefined ? `${q.min} to ${q.max}` : "";
  return [range, q.step ? `in steps of ${q.step}` : ""].filter(Boolean).join(", ");
}

export function Field({ question: q, value, onChange, error, focus, required = q.required }: Props) {
  const common = {
    label: q.name,
    description: [q.help, within(q)].filter(Boolean).join(" "),
    error,
    required,
    withAsterisk: required,
    value,
    placeholder: q.default ? `${q.default} unless given` : shapes[q.type],
    autoComplete: "off",
    "data-autofocus": focus || undefined,
    spellCheck: false,
  };
  const typed = (e: { currentTarget: { value: string } }) => onChange(e.currentTarget.value);
  if (q.secret) return <PasswordInput {...common} autoComplete="new-password" onChange={typed} />;
  const values = q.type === "bool" ? ["true", "false"] : q.values;
  if (values && (value === "" || values.includes(value)))
    return (
      <Select
        {...common}
        data={values}
        clearable={!required}
        value={value || null}
        onChange={(v) => onChange(v ?? "")}
      />
    );
  if (q.type === "text") return <Textarea {...common} autosize minRows={1} maxRows={6} onChange={typed} />;
  if (q.type === "integer") return <TextInput {...common} inputMode="numeric" onChange={typed} />;
  if (q.type === "number") return <TextInput {...common} inputMode="decimal" onChange={typed} />;
  return <TextInput {...common} list={listOf(q.name)} onChange={typed} />;
}

const known: Record<string, string> = {
  view: "SELECT name FROM objectstatus WHERE kind='view' OR kind='resource' ORDER BY name",
  resname: "SELECT name FROM objectstatus WHERE kind='resource' ORDER BY name",
};

const listOf = (column: string) => (known[column] ? `known-${column}` : undefined);

/** Known offers the names that exist, where a column wants one. It is used once on a page with fields. */
export function Known() {
  const names = useQuery({
    queryKey: ["known names"],
    queryFn: async () => {
      const [view, resname] = await Promise.all(
        ["view", "resname"].map((c) => sql<{ name: string }>(known[c] ?? "", { rows: 500 })),
      );
      return { view: view?.rows ?? [], resname: resname?.rows ?? [] };
    },
    staleTime: 30_000,
  });
  return (
    <>
      {(["view", "resname"] as const).map((c) => (
        <datalist key={c} id={listOf(c)}>
          {names.data?.[c].map((r) => (
            <option key={r.name} value={r.name} />
          ))}
        </datalist>
      ))}
    </>
  );
}
