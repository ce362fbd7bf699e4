// The file systems on which the service writes, made from its folders.
import type { Health } from "../../api";

type Folder = Health["disk"]["folders"][number];

export interface FileSystem {
  /** The names of the folders on it. */
  names: string[];
  /** Where they are; a folder inside another one is left out. */
  paths: string[];
  free: number;
  total: number;
}

/** fileSystems puts folders together that have the same figures: they are on one file system. */
export function fileSystems(folders: Folder[]): FileSystem[] {
  const found = new Map<string, Folder[]>();
  for (const f of folders) {
    const key = `${f.free} ${f.total}`;
    found.set(key, [...(found.get(key) ?? []), f]);
  }
  return [...found.values()].map((list) => {
    const all = [...new Set(list.map((f) => f.path))];
    const inside = (path: string) => all.some((p) => p !== path && path.startsWith(p.endsWith("/") ? p : `${p}/`));
    return {
      names: list.map((f) => f.name),
      paths: all.filter((p) => !inside(p)),
      free: list[0]?.free ?? 0,
      total: list[0]?.total ?? 0,
    };
  });
}
