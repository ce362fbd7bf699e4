// The time zones that can be chosen, and how they are found.
import { zone as browserZone } from "../Time";

// Names in use that browsers may leave out of their list, since they keep to older ones.
const newer = [
  "Africa/Asmara",
  "America/Argentina/Buenos_Aires",
  "America/Nuuk",
  "Asia/Ho_Chi_Minh",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Asia/Yangon",
  "Atlantic/Faroe",
  "Europe/Kyiv",
  "Pacific/Chuuk",
  "Pacific/Pohnpei",
];

let known: string[] | undefined;

/** zones are those the browser knows, the likely ones first. */
export function zones(): string[] {
  known ??= [...new Set([browserZone, "UTC", ...[...Intl.supportedValuesOf("timeZone"), ...newer].sort()])];
  return known;
}

const plain = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "_");

/** zoneNamed is the zone of that name, in any case and with blanks for _. */
export function zoneNamed(text: string): string | undefined {
  const wanted = plain(text);
  return zones().find((z) => plain(z) === wanted);
}

/** zonesWith are the zones that contain a text: those with it at the beginning of a part first. */
export function zonesWith(text: string): string[] {
  const wanted = plain(text);
  const found = zones().filter((z) => plain(z).includes(wanted));
  const begins = (z: string) => `/${plain(z)}`.includes(`/${wanted}`);
  return [...found.filter(begins), ...found.filter((z) => !begins(z))];
}
