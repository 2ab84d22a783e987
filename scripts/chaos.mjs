// Tries the promises about hostile servers, clients, networks and crashes, and prints a table of what came of it.
//   npm run chaos -- --help
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { memoryFolder } from "./memory-folder.mjs";

/** The tests of each group. `npm test` runs the same code with fewer tries. */
const groups = {
  hostile: ["packages/core/test/chaos/hostile-servers.test.ts"],
  reap: ["packages/core/test/chaos/reaping.test.ts"],
  writes: ["packages/core/test/chaos/killed-writers.test.ts"],
  twice: ["packages/core/test/chaos/never-twice.test.ts"],
  messages: ["packages/wire/test/rpc/fuzz.test.ts"],
  settings: ["packages/core/test/settings/broken-files.test.ts"],
  terminal: [
    "packages/core/test/chaos/terminal.test.ts",
    "packages/core/test/text/code-points.test.ts",
    "packages/cli/test/chaos/terminal.test.ts",
  ],
  limits: ["packages/wire/test/limits.test.ts", "packages/core/test/limits.test.ts"],
  network: ["packages/core/test/chaos/network.test.ts"],
  clients: ["packages/gateway/test/chaos/clients.test.ts"],
  soak: ["packages/core/test/chaos/soak.test.ts"],
};
const page = "docs/reliability.md";
const help = `usage: npm run chaos -- [options]

Tries each promise as often as docs/reliability.md says: hostile servers, killed processes and writers, cut connections,
damaged messages and settings files, hostile texts, hostile clients of the gateway, and a soak with a fault every 5 s.
Prints a table: promise, tries, failures, load. Every group prints its seed. Exits with 1 if a promise was broken.

  --only NAME  runs one group: ${Object.keys(groups).join(", ")}
  --part       as few tries as in npm test
  --seed N     the seed of the first try; each further try adds 1
  --tries N    how many tries, to replay a failure: --only NAME --seed N --tries 1
  --write      writes ${page}; only for a whole run on a clean checkout
  -h, --help   shows this text
`;
const options = readOptions();
const root = fileURLToPath(new URL("..", import.meta.url));
const git = (...words) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
const commit = options.write ? cleanCommit() : undefined;
const inMemory = memoryFolder();
const folder = mkdtempSync(join(inMemory ?? tmpdir(), "chaos-"));
const rowsFile = join(folder, "rows");
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = {
  ...inherited,
  PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
  FAIRLEAD_CHAOS_ROWS: rowsFile,
  ...(inMemory === undefined ? {} : { TMPDIR: folder }),
  ...(options.part ? {} : { FAIRLEAD_LONG: "1" }),
  ...(options.seed === undefined ? {} : { FAIRLEAD_SEED: options.seed }),
  ...(options.tries === undefined ? {} : { FAIRLEAD_CHAOS_TRIES: options.tries }),
};
process.on("SIGINT", () => {});
const begin = performance.now();
let isGood = true;
// One group after the other: each gets the machine for itself, and its figures are its own.
for (const [name, files] of Object.entries(groups)) {
  if (options.only === undefined || options.only === name) isGood = (await run(name, files)) && isGood;
}
const minutes = (performance.now() - begin) / 60_000;
const rows = existsSync(rowsFile)
  ? readFileSync(rowsFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  : [];
rmSync(folder, { recursive: true, force: true });
isGood &&= rows.length > 0 && rows.every(({ failures }) => failures === 0);
process.stdout.write(
  `\n${table(rows)}\n\ntook ${minutes.toFixed(0)} min: ${isGood ? "every promise held" : "FAILED"}\n`,
);
if (commit !== undefined && isGood) writePage();
process.exitCode = isGood ? 0 : 1;

async function run(name, files) {
  process.stdout.write(`\n${name}\n`);
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--project", "packages", ...files], {
    cwd: root,
    stdio: "inherit",
    env,
  });
  const [status] = await once(child, "exit");
  if (status !== 0) process.stdout.write(`${name}: FAILED\n`);
  return status === 0;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      part: { type: "boolean" },
      seed: { type: "string" },
      tries: { type: "string" },
      write: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  if (values.only !== undefined && !Object.hasOwn(groups, values.only))
    refuse(`there is no group "${values.only}"; known: ${Object.keys(groups).join(", ")}`);
  for (const name of ["seed", "tries"])
    if (!/^[1-9][0-9]{0,9}$/.test(values[name] ?? "1")) refuse(`--${name} needs a whole number, not "${values[name]}"`);
  if (values.write && (values.only ?? values.part ?? values.tries) !== undefined)
    refuse("--write needs a whole run: leave out --only, --part and --tries");
  return values;
}

function refuse(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** The page says which commit was tried, so nothing else may be in the folder. */
function cleanCommit() {
  if (git("status", "--porcelain") !== "") refuse("--write needs a clean checkout: commit or remove the changes");
  return git("rev-parse", "--short=12", "HEAD");
}

function table(all) {
  const lines = all.map(({ group, promise, tries, failures, load }) => [
    group,
    promise,
    number(tries),
    number(failures),
    load,
  ]);
  return [["group", "promise", "tries", "failures", "load held"], ["---", "---", "---:", "---:", "---"], ...lines]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

function number(value) {
  return String(value).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, " ");
}

function writePage() {
  const text = readFileSync(join(root, page), "utf8");
  const machine = `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${process.platform}`;
  const facts = `Commit \`${commit}\`, ${minutes.toFixed(0)} minutes, ${machine}.`;
  const [start, end] = ["<!-- npm run chaos -- --write -->", "<!-- end -->"];
  const figures = `${start}\n\n${facts}\n\n${table(rows)}\n\n${end}`;
  const [before] = text.split(start);
  const [, after] = text.split(end);
  writeFileSync(join(root, page), `${before}${figures}${after}`);
  process.stdout.write(`wrote ${page}\n`);
}
