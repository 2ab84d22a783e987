/** `fairlead serve-recording`: an MCP server that answers as recorded, on stdio or over HTTP. */

import { resolve } from "node:path";
import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { createPlayer, type Player } from "@fairlead/core/recordings/player";
import { readRecording } from "@fairlead/core/recordings/recording";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { WireError } from "@fairlead/wire";
import { listenHttp, openClientStdio, serveClient } from "@fairlead/wire/serve";
import { readDuration } from "../arguments/duration.ts";
import { count } from "../output/output.ts";
import { type Context, usageError, type Verb } from "../shell/verb.ts";

interface Options {
  readonly http?: boolean;
  readonly port?: string;
  readonly loose?: boolean;
  readonly timing: string;
}

export const verb: Verb = {
  help: `
A request gets the answer of the recorded request with the same method and arguments: the first time the first answer,
the second time the second one, and after the last one the last one again. A request that was never recorded gets an
error, and at the end the command exits with 1 (diverged). Text that was hidden in the recording matches any text.

On stdio, the client starts this command. With --http it listens on the loopback address, prints one line of JSON
{"url","pid"} when it is ready, and runs until Ctrl-C.

Examples:
  fairlead serve-recording github.jsonl
  fairlead serve-recording github.jsonl --http --port 4000
  fairlead tools --stdio 'fairlead serve-recording github.jsonl'`,

  define(command) {
    command
      .argument("<file>", "a recording of fairlead record, or of --record")
      .option("--http", "listen for HTTP clients instead of using stdio")
      .option("--port <number>", "with --http; default: any free port")
      .option("--loose", "if the arguments were never recorded, match by tool, prompt or resource only")
      .option("--timing <when>", "when messages are sent: none (at once), recorded, or a pause such as 200ms", "none");
  },

  async run(context) {
    const { io, operands, command } = context;
    const { http = false, port, loose = false, timing } = command.opts<Options>();
    if (port !== undefined && !http) throw usageError("--port works only with --http", context);
    const file = resolve(io.cwd, operands[0] ?? "");
    const recording = await readRecording(file);
    const player = createPlayer(recording, {
      loose,
      timing: toTiming(timing),
      clock: systemClock,
      createError: (...error) => new WireError(...error),
    });
    if (player.eras.length === 0)
      throw new HostError("diverged", `${file} cannot be served: it has no successful handshake`, {
        next: `fairlead record ${toShellWord(recording.header.server)} -o ${toShellWord(file)}`,
      });
    await (http ? serveHttp(player, port, context) : serveStdio(player, context));
    report(player, file, context);
  },
};

async function serveStdio(player: Player, { io }: Context): Promise<void> {
  const client = serveClient(openClientStdio({ input: io.stdin, output: io.stdout }), (one) => player.session(one));
  const stop = (): void => void client.close();
  io.signal.addEventListener("abort", stop, { once: true });
  await client.closed;
  io.signal.removeEventListener("abort", stop);
}

async function serveHttp(player: Player, port: string | undefined, context: Context): Promise<void> {
  const { io } = context;
  const listener = await listenHttp({
    eras: player.eras,
    onClient: (open, era) => void serveClient(open, (one) => player.session(one, era)),
    ...(port !== undefined && { port: toPort(port, context) }),
  }).catch((cause: unknown) => {
    const message = `cannot listen on port ${port ?? "any"}: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new HostError("usage", message, { cause, next: "choose another --port" });
  });
  io.stdout.write(`${JSON.stringify({ url: listener.url, pid: process.pid })}\n`);
  await new Promise<void>((resolveAborted) => {
    if (io.signal.aborted) resolveAborted();
    else io.signal.addEventListener("abort", () => resolveAborted(), { once: true });
  });
  await listener.close();
}

const shownRequests = 5;

/** @throws HostError `diverged` if a client asked for something that was never recorded */
function report(player: Player, file: string, { out }: Context): void {
  const unmatched = player.unmatched();
  if (unmatched.length === 0) return;
  for (const { method, target, params } of unmatched.slice(0, shownRequests))
    out.warn(safe`never recorded: ${toSafeLine(`${method} ${target}`.trim())} ${toSafeLine(JSON.stringify(params))}`);
  throw new HostError("diverged", `${count(unmatched.length, "request")} had no recorded answer in ${file}`, {
    next: "record again, or match by tool only: --loose",
  });
}

function toTiming(word: string): number | "recorded" {
  if (word === "recorded") return word;
  return word === "none" ? 0 : readDuration("--timing", word);
}

function toPort(word: string, context: Context): number {
  const port = Number(word);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw usageError(`--port must be a number from 0 to 65535, not "${word}"`, context);
  return port;
}
