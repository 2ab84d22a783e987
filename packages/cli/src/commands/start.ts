/**
 * `fairlead` without a command: opens the app on a terminal. Without a terminal, prints an overview and starts no
 * configured server.
 */

import { HostError } from "@fairlead/core/errors";
import { demoName } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { type ResumeOptions, wantedConversation } from "../conversations/find-conversation.ts";
import { createOverview, type Overview, overviewText } from "../output/reports/overview-text.ts";
import { transportWord } from "../output/servers/server-details.ts";
import { statusDocument } from "../output/servers/server-state.ts";
import { appOptions } from "../shell/app-options.ts";
import { commandWord } from "../shell/command-word.ts";
import { configurationOf } from "../shell/configuration.ts";
import { exampleServer } from "../shell/example-server.ts";
import { type Context, type Globals, globalWords, type Io, type Verb } from "../shell/verb.ts";
import { hasDemo, withHost } from "../targets/with-host.ts";

export const verb: Verb = {
  // This command has no `help` text, because `fairlead --help` prints the list of all commands.
  define(command) {
    command.argument("[prompt...]", "the first message, in quotes");
    for (const [flags, help] of appOptions) command.option(flags, help);
  },

  async run(context) {
    const { io, globals, command, operands } = context;
    if (operands.length > 1)
      throw new HostError("usage", `one message is expected, not ${operands.length}`, {
        next: `put the message in quotes: fairlead ${toShellWord(operands.join(" "))}`,
      });
    const { plain = false, ...resuming } = command.opts<{ readonly plain?: boolean } & ResumeOptions>();
    const isApp = isTerminal(io) && !globals.json;
    if (!isApp && operands.length > 0) return runPrompt(context);
    if (!isApp && resuming.resume === undefined) return showOverview(context);
    const configuration = await configurationOf(context);
    // Throws for an unknown conversation ID before the screen is drawn. With --resume and no ID, the app shows a
    // list.
    if (resuming.resume !== true) await wantedConversation(resuming, configuration);
    if (!isApp)
      throw new HostError(
        "usage",
        "cannot continue the conversation: stdout is not a terminal, and there is no message",
        { next: `fairlead --resume${typeof resuming.resume === "string" ? `=${resuming.resume}` : ""} -p "MESSAGE"` },
      );
    if (plain || io.env["TERM"] === "dumb") {
      const { runPlain } = await import("../tui/plain.ts");
      return runPlain(context, configuration);
    }
    const { runApp } = await import("../tui/run-app.tsx");
    return runApp(context, configuration);
  },
};

/** Without a terminal, `fairlead "…"` does the same as `fairlead -p "…"`. */
function runPrompt({ operands, command, globals, io, out, runWords }: Context): Promise<void> {
  const { model, continue: isContinued = false, resume } = command.opts<{ readonly model?: string } & ResumeOptions>();
  const words = [
    ...globalWords(globals),
    ...(globals.json ? ["--json"] : []),
    ...(globals.quiet ? ["--quiet"] : []),
    ...debugWords(globals),
    ...(model === undefined ? [] : ["--model", model]),
    ...(isContinued || resume === true ? ["--continue"] : []),
    ...(typeof resume === "string" ? [`--resume=${resume}`] : []),
    `--prompt=${operands.join(" ")}`,
  ];
  return runWords(words, io, out);
}

function debugWords({ debug }: Globals): readonly string[] {
  if (debug === false) return [];
  return debug === true ? ["--debug"] : [`--debug=${debug}`];
}

function isTerminal({ stdin, stdout }: Io): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

function showOverview(context: Context): Promise<void> {
  return withHost(context, async (host, configuration) => {
    const { io, out, globals } = context;
    if (hasDemo(configuration)) await host.start({ servers: [demoName] });
    const command = commandWord(io);
    const overview = createOverview(configuration, host.tools(demoName), command, await exampleServer(configuration));
    if (globals.json) return out.json(toDocument(overview));
    out.print(overviewText(overview, { home: io.home, style: out.style, command }));
  });
}

function toDocument({ workspace, files, servers, demoTools, problems, next }: Overview): object {
  return {
    workspace,
    files,
    servers: servers.map(({ server, admission }) => ({
      name: server.name,
      ...statusDocument(admission),
      transport: transportWord(server.kind),
      scope: server.scope,
      file: server.origin.file,
      line: server.origin.line,
    })),
    demo: { tools: demoTools.map(({ serverToolName }) => serverToolName) },
    problems,
    next,
  };
}
