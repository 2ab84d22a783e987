/** `fairlead record` and `serve-recording`: record the messages of a server, and answer clients as recorded. */

import { resolve } from "node:path";
import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { createPlayer, createRecorder, type Player, readRecording } from "@fairlead/core/recordings";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { WireError } from "@fairlead/wire";
import {
  createModernClients,
  type HttpListenerOptions,
  type OpenChannel,
  openClientStdio,
  serveClient,
} from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import { readDuration } from "../arguments/duration.ts";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import { checkHttpOptions, defineHttpOptions, type ListenOptions, serveHttp } from "../shell/http-server.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, openAdHoc } from "../targets/ad-hoc.ts";
import { useHost } from "../targets/with-host.ts";
import { findServer } from "./mcp/find-server.ts";

const serve: Verb = {
  help: `
A request gets the answer of the recorded request with the same method and arguments. If the recording has several such
requests, their answers are sent in order, and then the last answer is sent again each time. A request that was never
recorded gets an error, and at the end the command exits with 1 (diverged). Text that was hidden in the recording
matches any text.

On stdio, the client starts this command. With --http it listens on the loopback address, prints one line of JSON
{"url","pid"} when it is ready, and runs until Ctrl-C.

Examples:
  fairlead serve-recording github.jsonl
  fairlead serve-recording github.jsonl --http --port 4000
  fairlead tools --stdio 'fairlead serve-recording github.jsonl'`,

  define(command) {
    command
      .argument("<file>", "a file that fairlead record or --record wrote")
      .option("--loose", "answer requests with unrecorded arguments too, if the tool, prompt or resource was recorded")
      .option(
        "--timing <when>",
        "the pause before each message: none, recorded (as in the recording), or a time such as 200ms",
        "none",
      );
    defineHttpOptions(command);
  },

  async run(context) {
    const { io, operands, command } = context;
    const { loose = false, timing, ...http } = command.opts<ListenOptions & { loose?: boolean; timing: string }>();
    checkHttpOptions(http, context);
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
    const onClient: HttpListenerOptions["onClient"] = (open, era) =>
      void serveClient(open, (client) => player.session(client, era));
    await (http.http
      ? serveHttp(http, { eras: player.eras, onClient, schemaOf: (_, tool) => player.schemaOf(tool) }, context)
      : serveStdio(player, context));
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

const shownRequests = 5;

/**
 * Prints the clients' requests that the recording does not contain.
 * @throws HostError `diverged` if there is such a request
 */
function report(player: Player, file: string, { out }: Context): void {
  const unmatched = player.unmatched();
  if (unmatched.length === 0) return;
  for (const { method, target, params } of unmatched.slice(0, shownRequests))
    out.warn(safe`never recorded: ${toSafeLine(`${method} ${target}`.trim())} ${toSafeLine(JSON.stringify(params))}`);
  throw new HostError("diverged", `${count(unmatched.length, "request")} had no recorded answer in ${file}`, {
    next: "record again; or add --loose, to ignore the arguments of requests",
  });
}

function toTiming(word: string): number | "recorded" {
  if (word === "recorded") return word;
  return word === "none" ? 0 : readDuration("--timing", word);
}

// `fairlead record`: runs in place of a server, passes messages between the client and that server, and records
// them.

const record: Verb = {
  help: `
Write this command into the settings of any MCP client, in place of the server's own command. The client talks to the
server through it: stdin and stdout carry the protocol, so nothing else is printed there. Your rules apply to calls,
reads, prompts, completions and subscriptions as if you had typed them. Secrets of the server's settings are hidden in
the recording. To hide the server's results too, set "hideResults": true under fairlead.servers.NAME. A new run replaces
FILE. With --http, the command listens on the loopback address, prints one line of JSON {"url","pid"} when it is ready,
and runs until Ctrl-C.

Examples:
  fairlead record github -o github.jsonl
  fairlead record --stdio 'node server.js' -o server.jsonl
  fairlead serve-recording github.jsonl`,

  define(command) {
    command
      .argument("[server]", "name of the server (see: fairlead mcp list), or a URL")
      .option("-o, --output <file>", "the file of the recording; default: SERVER.jsonl in the current folder");
    defineHttpOptions(command);
    defineAdHocOptions(command);
  },

  async run(context) {
    const { io, out, operands, command } = context;
    const { output, ...http } = command.opts<ListenOptions & { readonly output?: string }>();
    checkHttpOptions(http, context);
    const configured = await configurationOf(context);
    const [given] = operands;
    const adHoc = await openAdHoc(isAddress(given) ? given : undefined, configured, context);
    const configuration = adHoc?.configuration ?? configured;
    const name = adHoc?.name ?? findServer(configuration, given ?? "").server.name;
    const file = resolve(io.cwd, output ?? `${name.replaceAll(/[^\w.-]/g, "_")}.jsonl`);
    const record = createRecorder({ file });
    out.say(safe`recording "${toSafeLine(name)}" to ${toSafeLine(file)}`);
    const warn = (error: unknown): void => out.warn(toSafeLine(errorMessage(error)));
    await useHost(
      configuration,
      context,
      async (host) => {
        await host.recall([name]);
        const relay = (open: OpenChannel): Promise<void> => host.relay(name, open, { signal: io.signal });
        if (http.http !== true) await relay(openClientStdio({ input: io.stdin, output: io.stdout }));
        else {
          // Newer protocol versions have no sessions, so all their requests are treated as sent by one client.
          const modern = createModernClients((open) => relay(open).catch(warn));
          const onClient: HttpListenerOptions["onClient"] = (open, era) =>
            era === "modern" ? modern.add(open) : void relay(open).catch(warn);
          await serveHttp(
            http,
            { eras: ["legacy", "modern"], onClient, schemaOf: (_, tool) => modern.schemaOf(tool) },
            context,
          );
        }
        await adHoc?.keep();
      },
      { record },
    );
    const [written] = record.written();
    out.say(
      safe`recorded ${count(written?.messages ?? 0, "message")}; next: fairlead serve-recording ${toSafeLine(toShellWord(file))}`,
    );
  },
};

export const verbs: Readonly<Record<"serve" | "record", Verb>> = { serve, record };
