// Lines for a shell that use a new key: they can be pasted unchanged.

/** shell puts a text in quotes that every shell leaves alone. */
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function post(url: string, key: string, path: string, lines: string[]): string {
  const csv = lines.map((l) => `${l}\\n`).join("");
  return [
    `printf ${shell(csv)} |`,
    `  curl -sS -H ${shell(`x-api-key: ${key}`)} -H 'Content-Type: text/csv' \\`,
    `    --data-binary @- ${url}${path}`,
  ].join("\n");
}

/** sendLines make a resource, if it is not there, and send it a value. */
export const sendLines = (url: string, key: string) => [
  post(url, key, "/api/provisioning/custom", ["name", "first-steps"]),
  post(url, key, "/api/send", [
    "type,resname,object,class,view,i1",
    "data,first-steps,temperature,temperature,first-steps,21.5",
  ]),
];

/** queryLine asks for the first indicator of objects: of those that sendLines send to, or of all. */
export const queryLine = (url: string, key: string, sent: boolean) =>
  [
    `curl -sS -G -H ${shell(`x-api-key: ${key}`)} ${url}/api/sql \\`,
    `  --data-urlencode ${shell(`q=SELECT resource, object, status, i1 FROM objectstatus WHERE kind='object'${sent ? " AND resource='first-steps'" : ""}`)}`,
  ].join("\n");
