/**
 * `fairlead record`: runs in place of a server, passes messages between the client and that server, and records them.
 */

import { resolve } from "node:path";
import { createRecorder } from "@fairlead/core/recordings/recorder";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { createModernClients, type HttpListenerOptions, type OpenChannel, openClientStdio } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import { checkHttpOptions, defineHttpOptions, type ListenOptions, serveHttp } from "../shell/http-server.ts";
import type { Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, openAdHoc } from "../targets/ad-hoc.ts";
import { useHost } from "../targets/with-host.ts";
import { findServer } from "./mcp/find-server.ts";

export const verb: Verb = {
  help: `
Write this command into the settings of any MCP client, in place of the server's own command. The client talks to the
server through it: stdin and stdout carry the protocol, so nothing else is printed there. Your rules apply to calls,
reads and prompts as if you had typed them. Secrets of the server's settings are hidden in the recording. To hide
the server's results too, set "hideResults": true under fairlead.servers.NAME. A new run replaces FILE. With --http, the
command listens on the loopback address, prints one line of JSON {"url","pid"} when it is ready, and runs until Ctrl-C.

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
