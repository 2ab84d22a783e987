/** A machine on which `fairlead connect` writes an entry that starts a small server in place of the gateway. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Ending, type Machine, machine } from "./machine.ts";

/** A server with one tool, `greet`, which speaks the version that its client asks for. */
export const greetServer = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "greeter", version: "1" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "greet", description: "Greets.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "hello from a server" }] }),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\\n");
});
`;

export interface ConnectMachine extends Machine {
  /** The file that entries start with Node. */
  readonly entryFile: string;
  /** Runs a command line whose entries start that file. */
  fairlead(...argv: readonly string[]): Promise<Ending>;
}

/** `files` are paths below the machine's folder. */
export async function connectMachine(
  files: Readonly<Record<string, string | object>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<ConnectMachine> {
  const here = await machine({ ...files, "bin/fairlead.cjs": greetServer });
  const entryFile = join(here.path, "bin/fairlead.cjs");
  const program = { node: process.execPath, file: entryFile };
  // No client of the machine that runs the tests is found.
  const given = { PATH: join(here.path, "installed"), ...env };
  return { ...here, entryFile, fairlead: (...argv) => here.runWith({ program, env: given }, ...argv) };
}

/** Undefined if there is no file. */
export async function textOf(here: Machine, file: string): Promise<string | undefined> {
  return readFile(join(here.path, file), "utf8").catch(() => undefined);
}
