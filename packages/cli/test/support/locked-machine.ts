/** A project with two servers that were approved and locked: one with tools, one with a prompt; a test can change both. */

import { join } from "node:path";
import { type StdioEntry, stdioServer } from "@fairlead/test-servers";
import { expect } from "vitest";
import { type Machine, machine, projectFile, userFile } from "./machine.ts";

export const lockFile = "project/.gemini/mcp.lock";

/** Its tools are those in `list.json`. */
export function bankOf({ path }: Machine): StdioEntry {
  return stdioServer("counted", "", join(path, "list.json"));
}

export function booksOf({ path }: Machine): StdioEntry {
  return stdioServer("library", join(path, "books.json"));
}

/** A list of tools, by name and description. */
export function list(tools: Readonly<Record<string, string>>): object[] {
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  return Object.entries(tools).map(([name, description]) => ({ name, description, inputSchema }));
}

export async function lockedMachine(): Promise<Machine> {
  const here = await machine({
    [userFile]: { mcpServers: { mine: stdioServer("well-behaved") } },
    "list.json": list({ pay: "Pays once.", ask: "Asks." }),
    "books.json": { prompts: [{ name: "review" }] },
  });
  await here.write(projectFile, { mcpServers: { bank: bankOf(here), books: booksOf(here) } });
  expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
  expect(await here.run("lock")).toMatchObject({ code: 0 });
  return here;
}
