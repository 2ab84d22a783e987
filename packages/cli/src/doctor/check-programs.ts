/** Checks Node, the programs that start servers, and the versions of downloaded packages. Pure functions. */

import type { Origin, ServerDefinition } from "@fairlead/core/settings/define/definition";
import { groupBy } from "@fairlead/core/text/group-by";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { findDownload } from "../output/servers/server-notes.ts";
import { hideInWords } from "../output/servers/server-redaction.ts";
import { note, type Observation, ok, problem, warning } from "./finding.ts";
import type { LaunchFacts, ProgramFacts } from "./program-facts.ts";

/** The oldest supported version of Node, as major and minor number. */
const oldestNode = [20, 19] as const;

/** Reports missing programs, an old Node, and problems with `PATH`. */
export function checkPrograms({ node, npx, relativePath, launches }: ProgramFacts): readonly Observation[] {
  return [
    nodeItself(node),
    ...otherNode(node, launches),
    ...(npx === undefined ? [noNpx()] : []),
    ...foundLines(launches, npx),
    ...launches.flatMap(whyNot),
    ...ofShells(launches),
    ...leftOut(launches),
    ...relative(relativePath, leftOut(launches).length > 0),
  ];
}

function nodeItself({ version, file }: ProgramFacts["node"]): Observation {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const [oldMajor, oldMinor] = oldestNode;
  const isOld = major < oldMajor || (major === oldMajor && minor < oldMinor);
  if (!isOld) return ok(`Node ${version} (${file})`);
  const message = `Node ${version} (${file}) is too old: Fairlead needs ${oldestNode.join(".")} or later`;
  return problem({ code: "internal", message, next: "install a newer Node: https://nodejs.org" });
}

/** Reports servers whose Node is not the Node that runs Fairlead. */
function otherNode({ file, other }: ProgramFacts["node"], launches: readonly LaunchFacts[]): readonly Observation[] {
  const users = launches.filter(({ command, interpreter }) => command === "node" || interpreter?.name === "node");
  if (other === undefined || users.length === 0) return [];
  return [note(`${namesOf(users)}: runs on ${other}, but Fairlead runs on ${file}`)];
}

function noNpx(): Observation {
  return note("npx is not on PATH: servers from npm packages need it", installs("npx"));
}

function foundLines(launches: readonly LaunchFacts[], npx: string | undefined): readonly Observation[] {
  const found = launches.flatMap(({ server, file }) => (file === undefined ? [] : [{ server, file }]));
  const used = groupBy(found, ({ file }) => file);
  const lines = [...used].map(([file, users]) => `${file} (${namesOf(users)})`);
  const idle = npx === undefined || used.has(npx) ? [] : [npx];
  return [...idle, ...lines].map(ok);
}

function whyNot(launch: LaunchFacts): readonly Observation[] {
  const { server, origin, command, file, interpreter, elsewhere, refused, script } = launch;
  if (refused) return [{ ...problem(refused), server }];
  if (file !== undefined && interpreter?.isFound !== false) return [];
  const missing = interpreter?.name ?? command;
  const notFound = { severity: "problem", server, code: "command_not_found" } as const;
  if (script !== undefined)
    return [
      {
        ...notFound,
        message: `"${server}" runs ${command}, but only the script ${script} exists, which cannot be started as a program`,
        next: `write "command": "powershell" and "args": ["-File", ${JSON.stringify(script)}, …] in its entry (${positionOf(origin)})`,
      },
    ];
  const what =
    file === undefined
      ? `"${server}" runs ${command}, which`
      : `"${server}" runs ${file}, which needs ${missing}, and that`;
  if (elsewhere)
    return [
      {
        ...notFound,
        message: `${what} is not on the server's PATH: it is in ${elsewhere.folder} (${elsewhere.manager}), which only your own shell has on its PATH`,
        next: addToPath(elsewhere.folder, `its entry (${positionOf(origin)})`),
      },
    ];
  const where = missing.includes("/") ? "does not exist or is not executable" : "is not on the server's PATH";
  return [
    {
      ...notFound,
      message: `${what} ${where}`,
      next: `${installs(missing)}; or correct the server's entry (${positionOf(origin)})`,
    },
  ];
}

function ofShells(launches: readonly LaunchFacts[]): readonly Observation[] {
  const managed = launches.flatMap((launch) => (launch.managed ? [{ ...launch, managed: launch.managed }] : []));
  return [...groupBy(managed, ({ managed: { folder } }) => folder)].map(([folder, users]) =>
    note(
      `${namesOf(users)}: program found in a folder of ${users[0].managed.manager} (${folder}), which editors and services do not have on their PATH`,
      addToPath(folder, users.length === 1 ? `its entry (${positionOf(users[0].origin)})` : "their entries"),
    ),
  );
}

function leftOut(launches: readonly LaunchFacts[]): readonly Observation[] {
  const dropped = new Set(launches.flatMap(({ droppedPath }) => droppedPath));
  if (dropped.size === 0) return [];
  const folders = [...dropped].map((folder) => JSON.stringify(folder)).join(", ");
  return [
    note(
      `the workspace is not trusted, so these folders were removed from the servers' PATH: ${folders}`,
      "fairlead trust add",
    ),
  ];
}

function relative(folders: readonly string[], isTold: boolean): readonly Observation[] {
  if (folders.length === 0 || isTold) return [];
  const shown = [...new Set(folders)].map((folder) => JSON.stringify(folder)).join(", ");
  return [
    warning(
      `PATH has relative folders, which depend on the current folder: ${shown}`,
      "remove them from PATH in your shell's startup file",
    ),
  ];
}

const installers: readonly (readonly [program: RegExp, advice: string])[] = [
  [/^(?:node|npm|npx)$/, "install Node.js: https://nodejs.org"],
  [/^uvx?$/, "install uv: https://docs.astral.sh/uv"],
  [/^docker$/, "install Docker: https://docs.docker.com/get-docker"],
  [/^python[\d.]*$/, "install Python: https://www.python.org"],
  [/^bunx?$/, "install Bun: https://bun.sh"],
  [/^deno$/, "install Deno: https://deno.com"],
  [/^pnpm$|^pnpx$/, "install pnpm: https://pnpm.io"],
  [/^pipx$/, "install pipx: https://pipx.pypa.io"],
];

function installs(program: string): string {
  return installers.find(([pattern]) => pattern.test(program))?.[1] ?? "install it";
}

function addToPath(folder: string, where: string): string {
  return `add "env": { "PATH": ${JSON.stringify(`${folder}:$PATH`)} } to ${where}`;
}

function namesOf(users: readonly { readonly server: string }[]): string {
  return users.map(({ server }) => server).join(", ");
}

function positionOf({ file, line }: Origin): string {
  return `${file}:${line}`;
}

/** Checks whether packages that are downloaded at a server's start have an exact version. */
export function checkPackages(definitions: readonly ServerDefinition[]): readonly Observation[] {
  const fetched = definitions.flatMap(({ name: server, transport }) => {
    const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
    return download ? [{ server, ...download, name: hideInWords(download.name) }] : [];
  });
  const pinned = fetched.filter((one) => one.pinned);
  return [
    ...(fetched.length === 0 ? [nothingFetched] : []),
    ...(pinned.length === 0 ? [] : [pinnedLine(pinned)]),
    ...fetched.filter((one) => !one.pinned).map(unpinned),
  ];
}

const nothingFetched: Observation = ok("no server is downloaded at start");

interface Fetched {
  readonly server: string;
  readonly name: string;
  readonly from: string;
}

function pinnedLine(pinned: readonly Fetched[]): Observation {
  const words = pinned.map(({ server, name }) => `${name} (${server})`);
  return ok(`exact version: ${words.join(", ")}`);
}

function unpinned({ server, name, from }: Fetched): Observation {
  const next = `fairlead mcp pin ${toShellWord(server)}`;
  // The tag "latest" moves with every release. A tag that names a version rarely moves, so doctor reports it only as a
  // note.
  if (/:(?!latest$)[\w.-]+$/.test(name))
    return { ...note(`"${server}" runs the image ${name}: its tag can be moved to another image`, next), server };
  const message = `"${server}" runs ${name} from ${from} without an exact version: the version may change at any time`;
  return { ...warning(message, next), server };
}
