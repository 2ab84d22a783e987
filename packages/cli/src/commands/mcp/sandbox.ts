/** `fairlead mcp sandbox`: shows what a server sees in its sandbox, or opens a shell in it. */

import { type Field, layout } from "@fairlead/console/server/words/server-details";
import {
  type BoxContents,
  boxContents,
  openBox,
  planLaunch,
  type SandboxContext,
  settingsFolders,
} from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { type ServerDefinition, sandboxDocument, sandboxLine } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, programPlace } from "@fairlead/core/trust";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

interface Options {
  readonly shell?: boolean;
}

export const verb: Verb = {
  help: `
Shows the files, hosts and variables that the server's program has in its sandbox. What is not shown is closed to it. The
sandbox is set in fairlead.servers.NAME.sandbox: "on", "off", or an object with read, write, hosts, tcp and env. With
--shell, opens a shell there, to look around with the program's rights.

Examples:
  fairlead mcp sandbox files
  fairlead mcp sandbox files --json
  fairlead mcp sandbox files --shell`,

  define: (command) =>
    command
      .argument("<name>", "name of the server (see: fairlead mcp list)")
      .option("--shell", "open a shell in the server's sandbox"),

  async run(context) {
    const { out, globals, operands, command } = context;
    const configuration = await configurationOf(context);
    const { server } = findServer(configuration, operands[0] ?? "");
    const { definition } = server;
    const { sandbox } = definition ?? {};
    if (definition === undefined || sandbox === undefined) {
      if (command.opts<Options>().shell || definition === undefined) throw withoutSandbox(server.name);
      if (globals.json) out.json({ server: server.name, sandbox: sandboxDocument(definition) ?? "off" });
      else
        out.print(
          safe`${toVisibleLine(server.name)}  ${toSafeLine(sandboxLine(definition) ?? "no program to sandbox")}`,
        );
      return;
    }
    const boxed = { ...definition, sandbox };
    const [program, boxContext] = await planned(definition, configuration);
    if (command.opts<Options>().shell) return openShell(boxed, program, boxContext, context);
    const contents = await boxContents(boxed, program, boxContext);
    if (globals.json) return out.json(document(definition, contents));
    out.show(safe`${out.style.bold(toVisibleLine(server.name))}  ${toVisibleLine(sandboxLine(definition) ?? "")}`);
    out.show(layout(fields(contents), safe`  `));
  },
};

type Planned = { readonly target: Awaited<ReturnType<typeof planLaunch>>["target"]; readonly file: string };

async function planned(
  definition: ServerDefinition,
  configuration: Configuration,
): Promise<readonly [Planned, SandboxContext]> {
  const { environment, locations } = configuration;
  const { resolved, name } = definition;
  if (resolved?.kind !== "stdio") throw withoutSandbox(name);
  const boxContext = programPlace({ ...configuration, environment });
  const { target, file } = await planLaunch(name, resolved, boxContext);
  if (file === undefined)
    throw new HostError("command_not_found", `"${name}" has no program: "${resolved.command}" is not in its PATH`, {
      serverName: name,
      next: `fairlead mcp test ${toShellWord(name)}`,
    });
  return [
    { target, file },
    { ...boxContext, state: locations.state, settingsFolders: settingsFolders(locations) },
  ];
}

function withoutSandbox(name: string): HostError {
  return new HostError("usage", `"${name}" has no sandbox`, {
    serverName: name,
    next: `Set "sandbox": "on" in fairlead.servers.${name} of the settings.`,
  });
}

async function openShell(
  definition: ServerDefinition & { readonly sandbox: NonNullable<ServerDefinition["sandbox"]> },
  program: Planned,
  boxContext: SandboxContext,
  { io, out }: Context,
): Promise<void> {
  const { spawn } = await import("node:child_process");
  const boxed = await openBox(definition, program, boxContext, ["/bin/sh"]);
  out.say(safe`a shell with the rights of ${toVisibleLine(definition.name)}; exit ends it`);
  const undo = io.takeInterrupts?.(() => {});
  try {
    const { command, args, inputs = [] } = boxed.target;
    const pipes = inputs.map(() => "pipe" as const);
    const shell = spawn(command, args, { cwd: "/", env: {}, stdio: ["inherit", "inherit", "inherit", ...pipes] });
    for (const [index, bytes] of inputs.entries()) {
      const pipe = shell.stdio[3 + index];
      if (pipe && "end" in pipe) pipe.end(bytes);
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
