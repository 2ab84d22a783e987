/** `fairlead mcp sandbox`: shows what a server sees in its sandbox, opens a shell in it, or proposes a profile. */

import { type Field, layout } from "@fairlead/console/server/words/server-details";
import {
  type BoxContents,
  boxContents,
  fetchedPackage,
  openBox,
  type SandboxContext,
  withPackage,
} from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { type ServerDefinition, sandboxDocument, sandboxLine } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";
import type { LearnOptions } from "./learn-sandbox.ts";
import { type LaunchedProgram, plannedProgram, withoutSandbox } from "./planned-program.ts";

interface Options extends LearnOptions {
  readonly shell?: boolean;
  readonly learn?: boolean;
  readonly fetch?: boolean;
}

export const verb: Verb = {
  help: `
Shows the files, hosts and variables that the server's program has in its sandbox. What is not shown is closed to it. The
sandbox is set in fairlead.servers.NAME.sandbox: "on", "off", or an object with read, write, hosts, tcp and env. With
--shell, opens a shell there, to look around with the program's rights.
The package of npx, uvx and the like is fetched before the first start, in a sandbox that reaches only its registry, and
then stays: --fetch fetches it again, to get a newer version that the entry allows.

With --learn, tries the server in its sandbox, calls its tools that only read, as the server says, and need no arguments,
and shows which files and hosts it was refused, as a change of its profile. Asks before it writes, and tries again. Your home
folder, folders with secrets and Fairlead's own folder are never proposed. With --recording, makes the calls of a recording
(fairlead record); with --watch, makes none, and reads what other programs' calls are refused.

Examples:
  fairlead mcp sandbox files
  fairlead mcp sandbox files --json
  fairlead mcp sandbox files --fetch && fairlead mcp restart files
  fairlead mcp sandbox files --shell
  fairlead mcp sandbox files --learn --recording files.jsonl`,

  define: (command) =>
    command
      .argument("<name>", "name of the server (see: fairlead mcp list)")
      .option("--shell", "open a shell in the server's sandbox")
      .option("--fetch", "fetch the server's package again")
      .option("--learn", "try the server, and propose what its profile lacks")
      .option("--recording <file>", "with --learn: make the calls of this recording")
      .option("--watch", "with --learn: wait for calls of other programs")
      .option("--yes", "with --learn: write what is proposed, without a question"),

  async run(context) {
    const { io, out, globals, operands, command } = context;
    const { learn = false, ...options } = command.opts<Options>();
    if (learn) {
      const { learnSandbox } = await import("./learn-sandbox.ts");
      return learnSandbox(operands[0] ?? "", options, context);
    }
    const configuration = await configurationOf(context);
    const { server } = findServer(configuration, operands[0] ?? "");
    const { definition } = server;
    const { sandbox } = definition ?? {};
    if (definition === undefined || sandbox === undefined) {
      const { shell = false, fetch = false } = command.opts<Options>();
      if (shell || fetch || definition === undefined) throw withoutSandbox(server.name);
      if (globals.json) out.json({ server: server.name, sandbox: sandboxDocument(definition) ?? "off" });
      else
        out.print(
          safe`${toVisibleLine(server.name)}  ${toSafeLine(sandboxLine(definition) ?? "no program to sandbox")}`,
        );
      return;
    }
    const boxed = { ...definition, sandbox };
    const [program, boxContext] = await plannedProgram(definition, configuration);
    if (command.opts<Options>().shell) return openShell(boxed, program, boxContext, context);
    const fetched = await fetchedPackage(definition, program, boxContext, {
      when: command.opts<Options>().fetch ? "again" : "never",
      signal: io.signal,
      onLine: (line) => out.say(safe`  ${toVisibleLine(line)}`),
    });
    if (command.opts<Options>().fetch && fetched === undefined)
      throw new HostError("usage", `"${server.name}" fetches no package: its command starts a program of this machine`);
    const contents = await boxContents(boxed, withPackage(program, fetched), boxContext);
    if (globals.json) return out.json(document(definition, contents));
    out.show(safe`${out.style.bold(toVisibleLine(server.name))}  ${toVisibleLine(sandboxLine(definition) ?? "")}`);
    out.show(layout(fields(contents), safe`  `));
  },
};

async function openShell(
  definition: ServerDefinition & { readonly sandbox: NonNullable<ServerDefinition["sandbox"]> },
  program: LaunchedProgram,
  boxContext: SandboxContext,
  { io, out }: Context,
): Promise<void> {
  const { spawn } = await import("node:child_process");
  const boxed = await openBox(definition, program, boxContext, { instead: ["/bin/sh"], signal: io.signal });
  out.say(safe`a shell with the rights of ${toVisibleLine(definition.name)}; exit ends it`);
  const undo = io.takeInterrupts?.(() => {});
  try {
    const { command, args, inputs = [] } = boxed.target;
    const pipes = inputs.map(() => "pipe" as const);
    const shell = spawn(command, args, { cwd: "/", env: {}, stdio: ["inherit", "inherit", "inherit", ...pipes] });
    for (const [index, bytes] of inputs.entries()) {
      const pipe = shell.stdio[3 + index];
      if (!pipe || !("end" in pipe)) continue;
      // bubblewrap may end before it has read its options. It then says why on stderr.
      pipe.on("error", () => pipe.destroy());
      pipe.end(bytes);
    }
    await new Promise<void>((resolve, reject) => {
      shell.once("error", reject);
      shell.once("exit", () => resolve());
    });
  } finally {
    undo?.();
    await boxed.close();
  }
}

function fields({ shown, paths, home, workingFolder, allowed, variables }: BoxContents): Field[] {
  const listed = (isWritable: boolean): SafeText[] =>
    paths.filter((path) => path.isWritable === isWritable).map(({ path }) => toVisibleLine(path));
  return [
    { label: safe`program`, values: shown.map(toVisibleLine) },
    { label: safe`reads`, values: listed(false) },
    { label: safe`writes`, values: listed(true) },
    { label: safe`home`, values: [safe`${toVisibleLine(home)} (private, stays)`] },
    { label: safe`starts in`, values: [toVisibleLine(workingFolder)] },
    { label: safe`reaches`, values: allowed.length === 0 ? [safe`nothing`] : allowed.map(toVisibleLine) },
    {
      label: safe`variables`,
      values: [
        toVisibleLine(
          variables
            .map(([name]) => name)
            .sort()
            .join(" "),
        ),
      ],
    },
  ];
}

function document(definition: ServerDefinition, contents: BoxContents): object {
  const { shown, home, workingFolder, allowed, variables } = contents;
  return {
    server: definition.name,
    sandbox: sandboxDocument(definition),
    program: shown,
    home,
    workingFolder,
    hosts: allowed,
    variables: variables.map(([name]) => name).sort(),
  };
}
