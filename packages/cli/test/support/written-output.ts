/** What a command writes, collected in memory, without a command line around it. */

import { PassThrough, Writable } from "node:stream";
import { createIdeTrust } from "@fairlead/core/ide/ide-trust";
import { Command } from "commander";
import { createOutput } from "../../src/output/output.ts";
import type { Context, Globals, Io } from "../../src/shell/verb.ts";

export interface WrittenOutput {
  readonly context: Context;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

interface Given extends Partial<Globals> {
  readonly env?: Io["env"];
  readonly isTTY?: boolean;
}

/** The context of a command. On this machine the command is typed as `npx --no -- fairlead`. */
export function writtenOutput({ env = {}, isTTY = false, ...given }: Given = {}): WrittenOutput {
  const [stdout, stderr] = [collector(), collector()];
  const globals: Globals = {
    workspace: true,
    trustWorkspace: false,
    json: false,
    quiet: false,
    debug: false,
    ...given,
  };
  const io: Io = {
    stdin: new PassThrough(),
    stdout: Object.assign(stdout.stream, { isTTY }),
    stderr: stderr.stream,
    env,
    cwd: "/",
    home: "/home",
    platform: "linux",
    signal: new AbortController().signal,
  };
  const out = createOutput(io, globals);
  const runWords = () => Promise.reject(new Error("no other command runs here"));
  const ide = createIdeTrust({ environment: io });
  const context = { io, out, globals, command: new Command("fairlead x"), operands: [], rest: [], runWords, ide };
  return { context, stdout: stdout.text, stderr: stderr.text };
}

function collector(): { readonly stream: Writable; readonly text: () => string } {
  let text = "";
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}
