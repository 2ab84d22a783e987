/** Joins the parts of a sandbox into the command line of bubblewrap. */

import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { StdioTarget } from "@fairlead/wire";
import { findUnsafeFolder } from "../files/unsafe-folder.ts";
import type { SandboxSettings } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import type { ProgramPlace } from "../trust/programs.ts";
import { findBubblewrap, namespaces } from "./bubblewrap.ts";
import type { Egress, HostWish } from "./egress.ts";
import { insideSocketPath } from "./inside-script.ts";
import { type ClosedFolders, socketFolder } from "./listed-paths.ts";
import { seccompFilter } from "./seccomp.ts";
import { insideHome, sharedFiles } from "./shared-files.ts";
import { insideStartPath } from "./start-script.ts";
import { kernelMounts, systemMounts } from "./system-mounts.ts";
import { unavailable } from "./unavailable.ts";
import type { AskForHost, WantedHosts } from "./wanted-hosts.ts";

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

/** The parts of a sandbox. */
export interface AssembledBox {
  readonly sandbox: SandboxSettings;
  /** The folder that is the home inside. Absent: an empty one that does not stay. */
  readonly home: string | undefined;
  /** Options of bubblewrap, after those for the system's folders. */
  readonly mounts: readonly string[];
  readonly egress: Egress;
  readonly workingFolder: string;
  readonly forwarder: string | undefined;
  /** What the start script checks before the program starts. */
  readonly checks: string;
  readonly variables: readonly (readonly [string, string])[];
  readonly command: readonly string[];
}

/** Joins the parts, and opens the sandbox's way to the network. */
export async function assembleBox(
  name: string,
  { sandbox, home, mounts, egress, workingFolder, forwarder, checks, variables, command }: AssembledBox,
  context: SandboxContext,
): Promise<BoxedProgram> {
  const bubblewrap = await findBubblewrap(name, context);
  const filter = seccompFilter(process.arch);
  if (filter === undefined)
    throw unavailable(name, {
      why: `Fairlead knows no system calls of the processor ${process.arch}`,
      fix: "Run it on a system with sandboxes",
    });
  const socket = await listenFor(egress, context);
  const options = [
    ...namespaces,
    ...systemMounts(),
    ...(await sharedFiles(sandbox, context.state)),
    ...kernelMounts(),
    ...(home === undefined ? ["--tmpfs", insideHome] : ["--bind", home, insideHome]),
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
      args: [..."--args 3 -- /bin/sh".split(" "), insideStartPath, forwarder ?? "-", checks, ...command],
      // The variables of the server are in the list of options. bubblewrap itself, which is not in the sandbox, gets none.
      env: {},
      cwd: "/",
      inputs: [Buffer.from(options.map((option) => `${option}\0`).join("")), filter],
    },
    close: () => egress.close(),
  };
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
