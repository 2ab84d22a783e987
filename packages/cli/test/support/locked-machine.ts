/** A project with two servers that were approved and locked: one with tools, one with a prompt; a test can change both. */

import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type StdioEntry, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect } from "vitest";
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

/**
 * Sets up one machine for the tests of a file. The function that it returns gives that machine to a test, with all files
 * as they were after `fairlead lock`. Starting and locking the servers anew would take most of a test's time.
 */
export function lockedMachines(): () => Promise<Machine> {
  const copying = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
  let shared: Machine;
  let copy: TemporaryFolder;
  beforeAll(async () => {
    shared = await newLockedMachine();
    copy = await temporaryFolder();
    await cp(shared.path, copy.path, copying);
  });
  afterAll(async () => {
    await shared[Symbol.asyncDispose]();
    await copy[Symbol.asyncDispose]();
  });
  return async () => {
    for (const name of await readdir(shared.path)) await rm(join(shared.path, name), { recursive: true });
    await cp(copy.path, shared.path, copying);
    return { ...shared, async [Symbol.asyncDispose]() {} };
  };
}

async function newLockedMachine(): Promise<Machine> {
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
