/** The recordings of a desk. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Desk } from "./turn-desk.ts";

export function recordingsOf({ path }: Pick<Desk, "path">) {
  const folder = path("home/.fairlead/conversations");
  const fileOf = (id: string): string => join(folder, `${id}.jsonl`);
  const textOf = (id: string): Promise<string> => readFile(fileOf(id), "utf8");
  return {
    folder,
    fileOf,
    textOf,
    names: (): Promise<readonly string[]> => readdir(folder).catch(() => []),
    lines: async (id: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
      (await textOf(id))
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}
