/**
 * Decides to which folder the approvals of a server are bound. An entry of the user's settings applies in every folder,
 * but `node server.mjs` runs another program in each of them.
 */

import { realpath } from "node:fs/promises";
import { basename, delimiter, isAbsolute, normalize } from "node:path";
import { isInside } from "../files/real-path.ts";
import type { ConfiguredServer, ServerDefinition, StdioTransport } from "../settings/define/definition.ts";
import { parseVariables } from "../settings/define/expand.ts";
import { type ProgramPlace, systemPath } from "./programs.ts";

/** Adds `approvalFolder` to the server's definition. Returns the server unchanged if it is the same in every folder. */
export async function withApprovalFolder(server: ConfiguredServer, context: ProgramPlace): Promise<ConfiguredServer> {
  const { definition } = server;
  if (definition === undefined) return server;
  const approvalFolder = await approvalFolderOf(definition, context);
  return approvalFolder === undefined ? server : { ...server, definition: { ...definition, approvalFolder } };
}

/**
 * Returns the folder that approvals of the server are bound to. Undefined only if the entry certainly starts the same
 * program, or reaches the same address, in every folder: in doubt, Fairlead asks once in each folder.
 */
async function approvalFolderOf(definition: ServerDefinition, context: ProgramPlace): Promise<string | undefined> {
  const { scope, variables, transport, resolved } = definition;
  const { root, trusted, environment } = context;
  const usesWorkspace = variables.some(({ from }) => from === "workspace-env-file" || from === "workspace-root");
  if (scope === "workspace" || usesWorkspace || resolved === undefined) return root;
  if (transport.kind !== "stdio" || resolved.kind !== "stdio") return undefined;
  if (isChosenByVariable(transport) || (await searchesIn(root, resolved, context))) return root;
  if ((resolved.cwd !== undefined && !isMoving(resolved.cwd)) || isSameFromEveryFolder(resolved)) return undefined;
  // `planLaunch` starts the server there.
  return trusted ? root : environment.home;
}

/** Whether a variable other than `HOME` decides what is started. Shells can set such a variable for each folder. */
function isChosenByVariable({ command, args, cwd = "" }: StdioTransport): boolean {
  return [command, ...args, cwd].some((text) => {
    const template = parseVariables(text);
    return template.kind !== "parts" || template.parts.some((part) => part.kind === "variable" && part.name !== "HOME");
  });
}

/** Whether the folder can add programs to the search path: by a relative entry, or by one that leads into the folder. */
async function searchesIn(
  root: string,
  { env, cwd }: StdioTransport,
  { environment, trusted }: ProgramPlace,
): Promise<boolean> {
  // In a folder that is not trusted, such entries are dropped from the search path.
  if (!trusted) return false;
  const own = [...env].find(([name]) => name.toUpperCase() === "PATH")?.[1];
  const path = own ?? environment.env["PATH"] ?? systemPath;
  const leadsInside = await Promise.all(
    path.split(delimiter).map(async (entry) => {
      if (!isAbsolute(entry)) return cwd === undefined || isInside(cwd, root);
      const real = await realpath(entry).catch(() => entry);
      return isMoving(entry) || isInside(entry, root) || isInside(real, root);
    }),
  );
  return leadsInside.includes(true);
}

/** Whether an absolute path depends on the process that uses it, as `/proc/self/cwd` and `/dev/stdin` do. */
function isMoving(path: string): boolean {
  return /^\/+(?:proc|dev\/(?:fd|stdin))(?:\/|$)/.test(normalize(path));
}

/** Interpreters that run the script in their first argument, and read no file of the working folder before it. */
const plainInterpreters = /^(?:node|nodejs|python|ruby|perl|(?:ba|da|z|k)?sh)[\d.]*(?:[.]exe)?$/i;
/** Programs that run what a file or package in the working folder says, even without an argument that names it. */
const folderRunners =
  /^(?:g?make|ninja|just|task|rake|mage|ant|mvnw?|gradlew?|npm|npx|pnpm|pnpx|yarn|bunx?|deno|tsx|ts-node|uvx?|pipx|poetry|pdm|hatch|rye|pypy|php|lua|java|dotnet|cargo|go|bundle|mix|nix|mise|direnv|docker|docker-compose|podman|env|nohup|nice|setsid|sudo|timeout|xargs|cmd|fish|pwsh|powershell)[\d.]*(?:[.](?:exe|cmd|bat))?$/i;
/** Variables that tell an interpreter or a loader where to find more code. */
const codeVariables = /^(?:NODE_|NPM_|BUN_|DENO_|PYTHON|RUBY|GEM_|BUNDLE_|PERL|LD_|DYLD_|JAVA_|JDK_|BASH_ENV$|ENV$)/i;

/** Whether command, arguments and variables lead to the same files whatever the working folder is. */
function isSameFromEveryFolder({ command, args, env }: StdioTransport): boolean {
  const name = basename(command);
  if (folderRunners.test(name) || isMoving(command) || [...env.keys()].some((variable) => codeVariables.test(variable)))
    return false;
  const [script = ""] = args;
  if (plainInterpreters.test(name) && !isAbsolute(script)) return false;
  return args.every(isSameArgument);
}

/** Whether an argument cannot be a path that starts at the working folder. A plain word can. */
function isSameArgument(argument: string): boolean {
  const value = /^--[\w-]+=(.*)$/s.exec(argument)?.[1] ?? argument;
  return (isAbsolute(value) && !isMoving(value)) || /^(?:-[A-Za-z]|--[\w-]+|\d+|https?:\/\/\S+)$/.test(value);
}
