/*
 * Checks that code which is loaded late stays behind import(), because start-up time is a promise to the user:
 *   - the library's index, the command's start and the part of the command that opens a host do not load the late files;
 *   - an import() of a file that the same program has loaded at once has no effect, so it is an ordinary import.
 */
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { commandParts } from "../reachable.mjs";
import { behindDoor, doorFolder, nodesOf, resolved, sourcePaths, specifierOf } from "./sources.mjs";

const core = "packages/core/src/";
const inCommand = (files) => files.map((file) => `packages/cli/src/${file}`);

/** Files and folders of core that wait for their first use. */
export const lateFiles = [
  "auth/auth-hook.ts",
  "auth/google/google-credentials.ts",
  "auth/google/google-library.ts",
  "auth/google/google.ts",
  "auth/google/service-account.ts",
  "auth/machine/",
  "auth/oauth/discovery.ts",
  "auth/oauth/refresh.ts",
  "auth/sign-in.ts",
  "connect/open-relay.ts",
  "connect/open-session.ts",
  "conversations/conversation-file.ts",
  "conversations/list-conversations.ts",
  "conversations/read-conversation.ts",
  "conversations/resume.ts",
  "demo/session.ts",
  "execute/executor.ts",
  "execute/validation/compile-schema.ts",
  "execute/validation/worker-pool.ts",
  "files/result-files.ts",
  "files/secrets/",
  "host/lock.ts",
  "auth/host-sign-in.ts",
  "ide/companion.ts",
  "policy/approvals.ts",
  "policy/decide.ts",
  "policy/ledger/ledger.ts",
  "policy/lock/",
  "policy/refusal.ts",
  "policy/rules/load-policies.ts",
  "policy/rules/policy-file.ts",
  "policy/rules/policy-files.ts",
  "request/relay.ts",
  "resources/completion.ts",
  "resources/references/",
  "resources/subscriptions.ts",
  "results/read-result.ts",
  "search/",
  "server/catalog-store.ts",
  "telemetry/api-telemetry.ts",
  "telemetry/client-traces.ts",
  "telemetry/connection-traces.ts",
  "telemetry/export-settings.ts",
  "telemetry/exporter.ts",
  "telemetry/mcp-attributes.ts",
  "telemetry/metrics.ts",
  "telemetry/otlp.ts",
  "telemetry/own-telemetry.ts",
  "telemetry/prometheus.ts",
  "telemetry/request-spans.ts",
  "telemetry/sampler.ts",
  "telemetry/shown-content.ts",
  "telemetry/tracing.ts",
  "turn/calls.ts",
  "turn/compact.ts",
  "turn/failure-messages.ts",
  "turn/turn.ts",
];

/** Files that a host loads with import() although the index loads them at once, and why that is right. */
export const exported = {
  "auth/oauth/oauth-provider.ts": "the index exports its class; a command loads it for a sign-in",
  "auth/store/stored-credentials.ts": "part of token-storage.ts",
  "auth/store/token-storage.ts": "the index exports its class; a command loads it for a sign-in",
  "connect/server-log.ts": "part of the recorder, which the index exports; a command loads it with its first server",
  "execute/validation/validator.ts": "part of the seeds' executor; a command loads it with its first call",
  "normalise/content/display.ts": "part of the seeds' content functions; a command loads it with its first result",
  "normalise/content/parts.ts": "part of the seeds' content functions; a command loads it with its first result",
  "settings/define/define.ts":
    "the seeds' constructors check entries and cannot wait; a command without servers never loads it",
};

/** The programs, by the files that they begin with. */
const programs = [
  { name: "the library", entries: [`${core}index.ts`], exceptions: Object.keys(exported).map((file) => core + file) },
  { name: "the start of the command", entries: inCommand(commandParts.start), exceptions: [] },
  { name: "the host of the command", entries: inCommand(commandParts.host), exceptions: [] },
];

/** Returns the violations below `baseDir`, one line each, and the number of files. */
export async function checkLateLoading(baseDir) {
  const paths = await sourcePaths(baseDir);
  const addresses = await readAddresses(baseDir);
  const doors = new Map();
  for (const path of paths) if (path.startsWith(doorFolder)) doors.set(path, await nodesOf(baseDir, path));
  const imports = new Map();
  for (const path of paths) imports.set(path, importsIn(await nodesOf(baseDir, path), path, { addresses, doors }));
  const violations = programs.flatMap((program) => violationsOf(program, imports));
  return { files: paths.length, violations };
}

function violationsOf({ name, entries, exceptions }, imports) {
  const importsOf = (path) => imports.get(path) ?? { atOnce: [], later: [] };
  const loaded = reach(entries, (path) => importsOf(path).atOnce);
  const found = [...loaded.keys()]
    .filter((path) => lateFiles.some((late) => path.startsWith(core + late)))
    .map((path) => `${path} must be loaded with import(): ${name} reaches it at once, ${chainTo(path, loaded)}`);
  const running = reach(entries, (path) => [...importsOf(path).atOnce, ...importsOf(path).later]);
  for (const path of running.keys())
    for (const to of importsOf(path).later)
      if (loaded.has(to) && !entries.includes(to) && !exceptions.includes(to))
        found.push(`${path}: import() of ${to} has no effect: ${name} reaches it at once, ${chainTo(to, loaded)}`);
  return found;
}

/** Returns every file that the entries reach, each with the file that it was reached from. */
function reach(entries, next) {
  const from = new Map(entries.map((entry) => [entry, undefined]));
  for (const path of from.keys()) for (const to of next(path)) if (!from.has(to)) from.set(to, path);
  return from;
}

function chainTo(path, loaded) {
  const chain = [];
  for (let step = loaded.get(path); step !== undefined; step = loaded.get(step)) chain.push(step);
  return chain.length === 0
    ? "as an entry"
    : `through ${chain.map((step) => step.replace("packages/", "")).join(" ← ")}`;
}

/** Returns the files that a file imports. Imports of types do not count: they are gone when the program runs. */
function importsIn(nodes, path, { addresses, doors }) {
  const atOnce = new Set();
  const later = new Set();
  for (const node of nodes) {
    const specifier = specifierOf(node);
    const to = addresses.get(specifier) ?? resolved(specifier, path);
    if (!to?.startsWith("packages/") || node.typeOnly === true || node.type === "TsImportType") continue;
    if (node.type === "CallExpression") later.add(to);
    else for (const file of doors.has(to) ? behindDoor(node, to, doors.get(to)) : [to]) atOnce.add(file);
  }
  return { atOnce: [...atOnce], later: [...later] };
}

/** Returns the files of the packages' named entries, such as `@fairlead/wire/json`. */
async function readAddresses(baseDir) {
  const addresses = new Map();
  for (const folder of ["wire", "core"]) {
    const text = await readFile(join(baseDir, "packages", folder, "package.json"), "utf8").catch(() => "{}");
    const { name, exports = {} } = JSON.parse(text);
    for (const [address, files] of Object.entries(exports))
      if (!address.includes("*"))
        addresses.set(posix.join(name, address), posix.join("packages", folder, files["fairlead-source"]));
  }
  return addresses;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, violations } = await checkLateLoading(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`late loading: ${files} files, ${violations.length} violations\n`);
  if (violations.length > 0 || files < 20) process.exitCode = 1;
}
