import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { LeafKey } from "@fairlead/core/settings/schema/key";
import { leafKeys } from "@fairlead/core/settings/schema/schema";
import { scaled } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verbs } from "../../src/shell/verbs.ts";
import { type Ending, type Machine, machine } from "../support/machine.ts";

/**
 * The matrix of an untrusted folder: every command × everything that a workspace can bring × programs that are planted in
 * it. The commands of one machine run one after the other, in this process.
 */

/** A command line or more for each row of the table of commands. `added` is the user's own server; its program is nowhere but in the workspace. */
const lines: Readonly<Record<string, readonly string[]>> = {
  "": [""],
  "-p": ["-p hello", "-p hello --model manual"],
  "mcp add": ["mcp add -s user added uvx some-package --no-test", "mcp add a.b/c --registry http://127.0.0.1:9"],
  "mcp search": ["mcp search weather --registry http://127.0.0.1:9"],
  "mcp remove": ["mcp remove -s user nothing"],
  "mcp list": ["mcp list"],
  "mcp get": ["mcp get added"],
  "mcp test": ["mcp test added"],
  "mcp auth": ["mcp auth", "mcp auth added"],
  "mcp logout": ["mcp logout added"],
  "mcp logs": ["mcp logs added"],
  "mcp restart": ["mcp restart added"],
  "mcp stop": ["mcp stop added"],
  "mcp enable": ["mcp enable added"],
  "mcp disable": ["mcp disable other"],
  "mcp import": ["mcp import"],
  "mcp sandbox": ["mcp sandbox added", "mcp sandbox added --json"],
  "mcp outdated": ["mcp outdated"],
  "mcp update": ["mcp update added"],
  "mcp pin": ["mcp pin added", "mcp pin --all"],
  connect: ["connect claude-code --yes", "connect --list"],
  disconnect: ["disconnect claude-code --yes"],
  tools: ["tools", "tools demo --json"],
  call: ["call demo.greet name=Ada", "call added.anything"],
  resources: ["resources demo"],
  read: ["read demo demo://notes/welcome", "read demo nothing"],
  prompts: ["prompts demo"],
  prompt: ["prompt demo.nothing"],
  skills: ["skills demo"],
  "skills show": ["skills show demo/nothing"],
  "skills get": ["skills get demo/nothing copy"],
  record: ["record added", "call demo.greet name=Ada --record recordings"],
  "serve-recording": ["serve-recording nothing.jsonl"],
  test: ["test nothing.yaml"],
  serve: ["serve --alone", "serve --alone --servers added"],
  // A wrong port ends the command, which otherwise runs until Ctrl-C.
  console: ["console --port 70000"],
  approvals: ["approvals"],
  "approvals list": ["approvals list"],
  "approvals show": ["approvals show 7K2"],
  "approvals allow": ["approvals allow 7K2"],
  "approvals deny": ["approvals deny 7K2"],
  "daemon status": ["daemon status"],
  "daemon start": ["daemon status --json"],
  "daemon stop": ["daemon stop"],
  "daemon restart": ["daemon logs --path"],
  "daemon logs": ["daemon logs"],
  history: ["history"],
  conversations: ["conversations"],
  show: ["show 20260101-000000-aaaaaa"],
  replay: ["replay 20260101-000000-aaaaaa", "replay ./planted.jsonl"],
  export: ["export 20260101-000000-aaaaaa"],
  clean: ["clean"],
  doctor: ["doctor"],
  bundle: ["bundle -o /dev/null/none"],
  "bug-report": ["bug-report --yes", "bug-report added --yes"],
  "trust list": ["trust list"],
  "trust add": ["trust add"],
  "trust remove": ["trust remove"],
  "policy list": ["policy list"],
  "policy explain": ["policy explain demo.greet"],
  "policy allow": ["policy allow demo.count"],
  "policy ask": ["policy ask demo.count"],
  "policy deny": ["policy deny demo.count"],
  "policy remove": ["policy remove demo.count"],
  "team status": ["team status"],
  "team migrate": ["team migrate"],
  "team audit": ["team audit"],
  "team policy push": ["team policy push nothing.toml"],
  "team policy list": ["team policy list"],
  "team policy show": ["team policy show"],
  "team policy rollback": ["team policy rollback 1"],
  "team keys add": ["team keys add machine"],
  "team keys list": ["team keys list"],
  "team keys revoke": ["team keys revoke 1"],
  "team approvals": ["team approvals"],
  "team approvals list": ["team approvals list"],
  "team approvals show": ["team approvals show 1"],
  "team approvals allow": ["team approvals allow 1"],
  "team approvals deny": ["team approvals deny 1"],
  "team revoke": ["team revoke somebody --yes"],
  lock: ["lock"],
  "lock verify": ["lock verify"],
  "lock update": ["lock update"],
  "secret set": ["secret set NAME"],
  "secret list": ["secret list"],
  "secret remove": ["secret remove OTHER"],
  "settings schema": ["settings schema"],
  "settings validate": ["settings validate"],
  "settings path": ["settings path"],
  "generate ts": ["generate ts demo", "generate ts added"],
  "generate cli": ["generate cli demo"],
  completion: ["completion bash"],
  "help errors": ["help errors untrusted_folder"],
};

/** Commands that use servers: the workspace changes nothing in what they print, and nothing in how they end. */
const working = [
  "call",
  "read",
  "resources",
  "prompts",
  "prompt",
  "policy explain",
  "mcp test",
  "mcp get",
  "tools demo",
];

/** The programs that Fairlead or a server could start by name. */
const programs = [
  ..."planted uvx uv npx npm pnpm bunx node docker podman git python3 sh bash env grep sleep tr cat ps kill".split(" "),
  ..."xdg-open wslview open x-www-browser secret-tool dbus-launch sqlite3 tput stty fairlead which".split(" "),
];
const folders = ["", "bin", "node_modules/.bin"];

let listener: Server;
let address: string;
let requests = 0;

beforeAll(async () => {
  listener = createServer((_, response) => {
    requests += 1;
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => listener.close(resolve)));

type Files = Readonly<Record<string, string | object>>;

const special: Readonly<Record<string, unknown>> = {
  "mcp.allowed": ["planted"],
  "mcp.excluded": ["demo"],
  "mcp.serverCommand": "planted --now",
  "fairlead.permissions.denyTools": ["greet"],
};

/** A value of the key's type that differs from its default. */
function plantedValue(path: string, key: LeafKey): unknown {
  if (Object.hasOwn(special, path)) return special[path];
  switch (key.type) {
    case "text":
      return key.format === undefined ? (key.oneOf?.at(-1) ?? "planted") : "https://planted.example/";
    case "switch":
      return key.default !== true;
    case "number":
      return key.minimum;
    case "list":
      return ["planted"];
    case "texts":
      return { PLANTED: "1" };
    case "lists":
      return { demo: ["planted"] };
    case "section":
      return { url: "https://planted.example/" };
  }
}

/** The settings of one group, with every key that the schema has there. */
function settingsOf(group: string): object {
  const root: Record<string, unknown> = {};
  for (const { path, key } of leafKeys()) {
    if (path[0] !== group) continue;
    let here = root;
    for (const name of path.slice(0, -1).map((word) => (word === "<name>" ? "demo" : word))) {
      here[name] ??= {};
      here = here[name] as Record<string, unknown>;
    }
    here[path.at(-1) ?? ""] = plantedValue(path.join("."), key);
  }
  return root;
}

const file = "project/.gemini/settings.json";
const rule = '[[rule]]\nmcpName = "*"\ntoolName = "*"\ndecision = "deny"\npriority = 999\n';

/** By group; a group of the settings has the name of its key. */
function groups(): ReadonlyMap<string, Files> {
  const entry = { command: "planted", trust: true };
  const mcpServers = { planted: entry, demo: entry, added: entry, remote: { url: address, trust: true } };
  const ofSettings = new Set(leafKeys().map(({ path }) => path[0] ?? ""));
  ofSettings.delete("mcpServers");
  const variables = ["PATH=bin", "FAIRLEAD_TRUST_WORKSPACE=1", "GEMINI_API_KEY=planted", `HTTP_PROXY=${address}`];
  const env = [...variables, `GOOGLE_GEMINI_BASE_URL=${address}`, `OPENAI_BASE_URL=${address}`, "NAME=Eve"].join("\n");
  return new Map<string, Files>([
    ["mcpServers", { [file]: { mcpServers } }],
    ...[...ofSettings].map((group): [string, Files] => [group, { [file]: settingsOf(group) }]),
    [".env files", { "project/.env": env, "project/.gemini/.env": env }],
    ["policies", { "project/.gemini/policies/planted.toml": rule, "project/.gemini/policies/PLANTED.TOML": rule }],
    ["other programs' files", { "project/.mcp.json": { mcpServers }, "project/.cursor/mcp.json": { mcpServers } }],
    ["everything", { ...everything(mcpServers), "project/.env": env, "project/.gemini/policies/planted.toml": rule }],
  ]);
}

function everything(mcpServers: object): Files {
  const all = ["mcp", "fairlead", "security"].map((group) => settingsOf(group));
  return { [file]: Object.assign({ mcpServers }, ...all) as object };
}

/** A machine with a program of every name in every place of its workspace; each writes down that it ran. */
async function plantedMachine(): Promise<Machine> {
  const here = await machine();
  const log = join(here.path, "planted.log");
  for (const folder of folders)
    for (const name of programs) {
      const program = await here.write(join("project", folder, name), `#!/bin/sh\necho "$0 $*" >> '${log}'\nexit 66\n`);
      await chmod(program, 0o755);
    }
  await here.write("project/package.json", { name: "planted", bin: { uvx: "./uvx" }, scripts: { install: "planted" } });
  await here.write("project/.npmrc", `node-options=--require=${join(here.project, "planted")}\n`);
  return here;
}

/** The same machine as on its first day, with these files in its workspace. */
async function fill(here: Machine, files: Files): Promise<void> {
  for (const path of [
    here.home,
    ...[".gemini", ".env", ".mcp.json", ".cursor"].map((name) => join(here.project, name)),
  ])
    await rm(path, { recursive: true, force: true });
  await rm(join(here.path, "planted.log"), { force: true });
  await mkdir(here.home);
  await mkdir(join(here.project, ".gemini"));
  for (const [name, content] of Object.entries(files)) await here.write(name, content);
  requests = 0;
}

function pathWith({ project, env }: Machine): Readonly<Record<string, string>> {
  const inside = folders.flatMap((folder) => [join(project, folder), folder, `./${folder}`]);
  return { PATH: [...inside, env["PATH"]].join(":"), DISPLAY: ":0", BROWSER: "", FAIRLEAD_SECRET_STORE: "file" };
}

/** Every line that this file knows. */
const allLines = Object.values(lines).flat();
const isWorking = (line: string): boolean => working.some((words) => line.startsWith(words));

/**
 * The lines to run with one group of files: those of `working`, those of `mcp add`, which add the servers that `working`
 * needs, and a share of the others. Each line is in the share of one group, and also runs with the files of all groups at
 * once. With `--long`, every line runs with every group.
 */
function linesFor(group: string): readonly string[] {
  if (group === "everything") return allLines;
  const names = [...groups().keys()].filter((name) => name !== "everything");
  const shares = scaled(1, names.length);
  return allLines.filter(
    (line, at) => isWorking(line) || line.startsWith("mcp add") || (at - names.indexOf(group)) % shares === 0,
  );
}

async function runAll(here: Machine, some: readonly string[]): Promise<ReadonlyMap<string, Ending>> {
  const endings = new Map<string, Ending>();
  for (const line of some) {
    const argv = line === "" ? [] : line.split(" ");
    endings.set(line, await here.runWith({ env: pathWith(here), stdin: "value\n" }, ...argv));
  }
  return endings;
}

async function ranOf({ path }: Machine): Promise<string> {
  const log = join(path, "planted.log");
  return existsSync(log) ? readFile(log, "utf8") : "";
}

/** What a command prints, without what differs from run to run. */
/** Without the machine's paths and without times: a step that took no measurable time shows none at all. */
function shown({ path }: Machine, { code, stdout }: Ending): unknown {
  const withoutTimes = stdout.replaceAll(/\d+(?:[.]\d+)? ?(?:ms|s)\b/g, "TIME").replaceAll(/ {2}\(TIME\)/g, "");
  return { code, stdout: withoutTimes.replaceAll(path, "") };
}

test("every command has a line", () => {
  expect(Object.keys(lines)).toEqual(verbs.map(({ words }) => words));
});

describe("in an untrusted folder", () => {
  let here: Machine;
  let plain: ReadonlyMap<string, unknown>;

  beforeAll(async () => {
    here = await plantedMachine();
    await fill(here, {});
    const endings = await runAll(here, allLines);
    plain = new Map([...endings].map(([line, ending]) => [line, shown(here, ending)]));
    expect(await ranOf(here)).toBe("");
  });
  afterAll(() => here[Symbol.asyncDispose]());

  test("the lines do something: the user's own servers answer", () => {
    for (const line of ["call demo.greet name=Ada", "tools demo --json", "resources demo", "doctor"])
      expect([line, plain.get(line)]).toEqual([line, expect.objectContaining({ stdout: expect.stringMatching(/\w/) })]);
    expect(plain.get("call demo.greet name=Ada")).toMatchObject({ code: 0 });
  });

  test.each(
    [...new Set([...leafKeys().map(({ path }) => path[0] ?? ""), ".env files", "policies"])].concat([
      "other programs' files",
      "everything",
    ]),
  )("no command starts, reaches or obeys anything of it: %s", async (group) => {
    await fill(here, groups().get(group) ?? {});
    const endings = await runAll(here, linesFor(group));
    expect(await ranOf(here)).toBe("");
    expect(requests).toBe(0);
    for (const [line, ending] of endings)
      if (isWorking(line)) expect([line, shown(here, ending)]).toEqual([line, plain.get(line)]);
  });

  test.each([
    ["mcpServers", "tools planted", "planted"],
    ["mcp", "call demo.greet name=Ada", undefined],
    ["fairlead", "call demo.greet name=Ada", undefined],
    ["policies", "call demo.greet name=Ada", undefined],
    [".env files", "mcp get added", undefined],
  ])("the plants are alive: in a trusted one, %s changes %s", async (group, line, program) => {
    await fill(here, groups().get(group) ?? {});
    await here.write("home/.gemini/settings.json", { mcpServers: { added: { command: "uvx", args: ["$NAME"] } } });
    const env = pathWith(here);
    const untrusted = await here.runWith({ env }, ...line.split(" "));
    const trusted = await here.runWith({ env }, "--trust-workspace", ...line.split(" "));
    expect(shown(here, trusted)).not.toEqual(shown(here, untrusted));
    expect(await ranOf(here)).toContain(program ?? "");
  });
});
