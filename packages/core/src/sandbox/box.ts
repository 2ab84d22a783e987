/**
 * Starts a program in a sandbox of Linux, with bubblewrap. The program sees the system's folders, its own files, a private
 * home folder and what its profile lists. Its only network is a socket to a proxy of this host.
 */

import { isInside } from "../files/real-path.ts";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";
import { findProgram, systemPath } from "../trust/programs.ts";
import { assembleBox, type BoxedProgram, type SandboxContext, type UnboxedProgram } from "./assemble-box.ts";
import { findBubblewrap } from "./bubblewrap.ts";
import { Egress, hostText } from "./egress.ts";
import type { FetchedPackage, PackageFetch } from "./fetch-package.ts";
import { certificateFiles, environmentInside } from "./inside-environment.ts";
import { isShown, mountListed, privateFolder, resolvePaths, type ShownPath } from "./listed-paths.ts";
import { findProgramFiles, type ProgramFiles } from "./program-files.ts";
import { insideHome } from "./shared-files.ts";
import { WantedHosts } from "./wanted-hosts.ts";

export type { SandboxContext } from "./assemble-box.ts";
export { whyNoSandbox } from "./bubblewrap.ts";
export { hostText } from "./egress.ts";
export { unavailable } from "./unavailable.ts";

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
 * A package that the command would fetch is fetched before, into a folder of this server.
 *
 * @param instead The command to run in the program's sandbox, instead of the program.
 * @throws HostError `sandbox_unavailable` if this system has no sandboxes, `settings_invalid` if a listed path does not
 * exist or has become a link
 */
export async function openBox(
  definition: ServerDefinition & { readonly sandbox: SandboxSettings },
  program: UnboxedProgram,
  context: SandboxContext,
  { instead, ...fetching }: PackageFetch & { readonly instead?: readonly string[] } = {},
): Promise<BoxedProgram> {
  const { name, sandbox } = definition;
  await findBubblewrap(name, context);
  // Without a file, the start fails as it does without a sandbox.
  if (program.file === undefined) return { target: program.target, close: async () => {} };
  const { fetchedPackage } = await import("./fetch-package.ts");
  const fetched = await fetchedPackage(definition, program, context, fetching);
  const { target, file } = withPackage({ ...program, file: program.file }, fetched);
  const contents = await boxContents(definition, { target, file }, context);
  const { shown, links, paths, home, workingFolder, forwarder, allowed, variables } = contents;
  const listed = await mountListed(name, paths, context, fetched?.folder);
  const mounts = [
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
  const command = instead ?? [file, ...target.args];
  const { checks } = listed;
  const parts = { sandbox, home, mounts, egress, workingFolder, forwarder, checks, variables, command };
  return assembleBox(name, parts, context);
}

/** The program of a fetched package, in place of the command that would fetch it. */
export function withPackage(
  { target, file }: Required<UnboxedProgram>,
  fetched: FetchedPackage | undefined,
): Required<UnboxedProgram> {
  if (fetched === undefined) return { target, file };
  return { target: { ...target, command: fetched.file, args: fetched.args }, file: fetched.file };
}

/** The Node that runs the script beside a program in another language. */
async function nodeFor(searchPath: string, { environment }: SandboxContext): Promise<string | undefined> {
  if (/\/node\d*$/.test(process.execPath)) return process.execPath;
  return findProgram("node", environment.env["PATH"] ?? searchPath, "/");
}
