/**
 * Starts a program in a sandbox of Linux, with bubblewrap. The program sees the system's folders, its own files, a private
 * home folder and what its profile lists. Its only network is a socket to a proxy of this host.
 */

import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { StdioTarget } from "@fairlead/wire";
import { isInside } from "../files/real-path.ts";
import { findUnsafeFolder } from "../files/unsafe-folder.ts";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { findProgram, type ProgramPlace, systemPath } from "../trust/programs.ts";
import { findBubblewrap, namespaces } from "./bubblewrap.ts";
import { Egress, type HostWish, hostText } from "./egress.ts";
import { certificateFiles, environmentInside } from "./inside-environment.ts";
import { insideSocketPath } from "./inside-script.ts";
import {
  type ClosedFolders,
  isShown,
  mountListed,
  privateFolder,
  resolvePaths,
  type ShownPath,
  socketFolder,
} from "./listed-paths.ts";
import { findProgramFiles, type ProgramFiles } from "./program-files.ts";
import { seccompFilter } from "./seccomp.ts";
import { insideHome, sharedFiles } from "./shared-files.ts";
import { insideStartPath } from "./start-script.ts";
import { kernelMounts, systemMounts } from "./system-mounts.ts";
import { unavailable } from "./unavailable.ts";
import { type AskForHost, WantedHosts } from "./wanted-hosts.ts";

export { hostText } from "./egress.ts";
export { unavailable } from "./unavailable.ts";

/** What the sandboxes of a host share. */
export interface SandboxContext extends ProgramPlace, ClosedFolders {
  readonly environment: Environment;
  /** Asks the rules and a person about hosts that the profile does not list. Default: such hosts are refused. */
  readonly ask?: AskForHost | undefined;
  /** What the server's programs wanted. Default: it is forgotten. */
  readonly wanted?: WantedHosts | undefined;
  /** Called once for each host that a program wanted and did not reach. */
  readonly onRefused?: ((serverName: string, wish: HostWish, reason: string) => void) | undefined;
}

/** A program as it would start without a sandbox. */
export interface UnboxedProgram {
  readonly target: StdioTarget;
  /** The executable file. Absent if there is none. */
  readonly file?: string | undefined;
}

/** A program in its sandbox. Call `close` when it has ended. */
export interface BoxedProgram {
  readonly target: StdioTarget;
  close(): Promise<void>;
}

/** What a program sees in its sandbox, besides the system's folders. */
export interface BoxContents {
  /** The program's own files, read-only. */
  readonly shown: readonly string[];
  readonly links: ProgramFiles["links"];
  readonly paths: readonly ShownPath[];
  /** The folder that is its home inside. */
  readonly home: string;
  readonly workingFolder: string;
  readonly isNode: boolean;
  /** The Node that leads other programs to the proxy. Absent if the program is Node, or may reach nothing. */
  readonly forwarder: string | undefined;
  /** `name:port` that it may reach without a question. */
  readonly allowed: readonly string[];
  readonly variables: readonly (readonly [string, string])[];
}

/**
 * Finds out what a program sees in its sandbox.
 *
 * @throws HostError `settings_invalid` if a listed path does not exist or has become a link
 */
export async function boxContents(
  definition: ServerDefinition & { readonly sandbox: SandboxSettings },
  { target, file }: Required<UnboxedProgram>,
  context: SandboxContext,
): Promise<BoxContents> {
  const { sandbox } = definition;
  const searchPath = target.env["PATH"] ?? systemPath;
  const { home } = context.environment;
  const files = await findProgramFiles({ file, args: target.args, cwd: target.cwd, searchPath, home });
  const paths = await resolvePaths(definition, context);
  const allowed = [...sandbox.hosts, ...sandbox.tcp];
  const { isNode, links, usesWorkingFolder } = files;
  const needsNetwork = allowed.length > 0 || context.ask !== undefined;
  const forwarder = isNode || !needsNetwork ? undefined : await nodeFor(searchPath, context);
  const forwarderFiles =
    forwarder === undefined
      ? undefined
      : await findProgramFiles({ file: forwarder, args: [], cwd: "/", searchPath, home });
  const certificates = await certificateFiles(target.env, context.environment.env);
  return {
    shown: [...new Set([...files.shown, ...(forwarderFiles?.shown ?? []), ...certificates])],
    links,
    paths,
    home: await privateFolder(definition, context),
    workingFolder: isShown(target.cwd, paths) || usesWorkingFolder ? target.cwd : insideHome,
    isNode,
    forwarder,
    allowed,
    variables: environmentInside(definition, target, context.environment, { isNode, needsNetwork }),
  };
}

/**
 * Plans the start of a program in its sandbox.
 *
 * @param instead The command to run in the program's sandbox, instead of the program.
 * @throws HostError `sandbox_unavailable` if this system has no sandboxes, `settings_invalid` if a listed path does not
 * exist or has become a link
 */
export async function openBox(
  definition: ServerDefinition & { readonly sandbox: SandboxSettings },
  { target, file }: UnboxedProgram,
  context: SandboxContext,
  instead?: readonly string[],
): Promise<BoxedProgram> {
  const { name, sandbox } = definition;
  const bubblewrap = await findBubblewrap(name, context);
  const filter = seccompFilter(process.arch);
  if (filter === undefined)
    throw unavailable(name, {
      why: `Fairlead knows no system calls of the processor ${process.arch}`,
      fix: "Run it on a system with sandboxes",
    });
  // Without a file, the start fails as it does without a sandbox.
  if (file === undefined) return { target, close: async () => {} };

  const contents = await boxContents(definition, { target, file }, context);
  const { shown, links, paths, home, workingFolder, forwarder, allowed, variables } = contents;
  const listed = await mountListed(name, paths, context);
  const mounts = [
    ...systemMounts(),
    ...(await sharedFiles(sandbox, context.state)),
    ...kernelMounts(),
    "--bind",
    home,
    insideHome,
    ...shown.flatMap((path) => ["--ro-bind-try", path, path]),
    ...links
      .filter(({ path }) => !isShown(path, paths) && !shown.some((folder) => isInside(path, folder)))
      .flatMap(({ path, target: to }) => ["--symlink", to, path]),
    ...listed.options,
  ];
  const { ask, onRefused, wanted = new WantedHosts() } = context;
  const egress = new Egress({
    allowed,
    wanted: wanted.begin(ask),
    onRefused(wish, reason, mayAllow) {
      wanted.noteRefused({ host: hostText(wish), reason, mayAllow });
      onRefused?.(name, wish, reason);
    },
  });
  const socket = await listenFor(egress, context);
  const options = [
    ...namespaces,
    ...mounts,
    "--ro-bind",
    socket,
    insideSocketPath,
    ..."--remount-ro / --chdir".split(" "),
    workingFolder,
    "--clearenv",
    ...variables.flatMap(([key, value]) => ["--setenv", key, value]),
    ..."--seccomp 4".split(" "),
  ];
  return {
    target: {
      kind: "stdio",
      command: bubblewrap,
      args: [
        ..."--args 3 -- /bin/sh".split(" "),
        insideStartPath,
        forwarder ?? "-",
        listed.checks,
        ...(instead ?? [file, ...target.args]),
      ],
      // The variables of the server are in the list of options. bubblewrap itself, which is not in the sandbox, gets none.
      env: {},
      cwd: "/",
      inputs: [Buffer.from(options.map((option) => `${option}\0`).join("")), filter],
    },
    close: () => egress.close(),
  };
}

/** The Node that runs the script beside a program in another language. */
async function nodeFor(searchPath: string, { environment }: SandboxContext): Promise<string | undefined> {
  if (/\/node\d*$/.test(process.execPath)) return process.execPath;
  return findProgram("node", environment.env["PATH"] ?? searchPath, "/");
}

/** Sockets have short paths, so a state folder with a long one is not used for them. */
async function listenFor(egress: Egress, { state }: SandboxContext): Promise<string> {
  const name = `${process.pid}-${randomBytes(6).toString("hex")}.sock`;
  const usual = join(state, "sandboxes", "run");
  const folder = join(usual, name).length <= 100 ? usual : socketFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unsafe = findUnsafeFolder(folder, process.getuid?.());
  if (unsafe !== undefined) throw new Error(`${unsafe.path} is not safe for sockets: ${unsafe.problem}`);
  const path = join(folder, name);
  await egress.listen(path);
  return path;
}
