/** A machine that remembers servers from an earlier run: all that a Tab key goes by. */

import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { type Machine, machine, userFile } from "./machine.ts";

/** The tools of each server, as it lists them. */
type Catalogs = Readonly<Record<string, readonly object[]>>;

export async function remembering(servers: Catalogs): Promise<Machine> {
  const here = await machine({ "project/notes one.txt": "", "project/folder/inner.txt": "" });
  await remember(here, servers);
  return here;
}

/** From now on these are the machine's servers, and what they offer is known. */
export async function remember(here: Machine, servers: Catalogs): Promise<void> {
  const entries = Object.entries(servers).map(([name, tools], at) => {
    const file = `tools-${at}.json`;
    return { file, tools, entry: [name, stdioServer("catalog", join(here.path, file))] as const };
  });
  for (const { file, tools } of entries) await here.write(file, JSON.stringify(tools));
  await here.write(userFile, { mcpServers: Object.fromEntries(entries.map(({ entry }) => entry)) });
  const { code, stderr } = await here.run("mcp", "list", "--strict");
  if (code !== 0) throw new Error(stderr);
}
