/** Prints the sign-in state of every server, without connecting to any server. */

import type { SignInState } from "@fairlead/core/auth/store/sign-in-state";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { table } from "../output/output.ts";
import { signInDocument, signInWords } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";
import { signInReader } from "./read-state.ts";

/** One row of the output: the sign-in state of a server, or the problem of an invalid entry. */
type Row = { readonly name: string } & ({ readonly signIn: SignInState } | { readonly problem: string });

/** Prints the sign-in states, and the command that signs in to each server that needs it. */
export async function showSignIns(configuration: Configuration, { out, globals }: Context): Promise<void> {
  const read = signInReader(configuration);
  const rows: Row[] = [];
  for (const { server, admission } of configuration.servers) {
    const { name, kind, definition } = server;
    if (kind === "stdio") continue;
    if (admission.status === "disconnected") rows.push({ name, problem: admission.message });
    else if (admission.status === "admitted" && definition !== undefined)
      rows.push({ name, signIn: await read(definition) });
  }
  if (globals.json) return out.json({ servers: rows.map(rowDocument) });
  if (rows.length === 0) return out.show(safe`No server needs a sign-in: no server that may start has a URL.`);
  out.show(table(rows.map((row) => [out.style.bold(toVisibleLine(row.name)), rowWords(row)])));
  const needing = rows.filter((row) => "signIn" in row && row.signIn.state === "needed");
  for (const { name } of needing) out.say(safe`next: fairlead mcp auth ${toSafeLine(toShellWord(name))}`);
  if (needing.length === 0) out.say(safe`next: fairlead mcp list   (connects, and shows which servers need a sign-in)`);
}

function rowWords(row: Row): SafeText {
  return "signIn" in row ? signInWords(row.signIn) : safe`cannot start: ${toVisibleLine(row.problem)}`;
}

function rowDocument(row: Row): object {
  return "signIn" in row ? { name: row.name, signIn: signInDocument(row.signIn) } : row;
}
