/** The packages as they are published: packed, unpacked in an empty folder, used as a reader of the docs would. */

import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { anthropicApi, geminiApi, openaiApi, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);
let folder: TemporaryFolder;
/** What each of the small programs has printed. */
let printed: Readonly<Record<keyof typeof programs, string>>;

/** Programs of a reader's. One process imports one after the other: each loads the same libraries. */
const programs = {
  library: `import { createHost, HostError } from "@fairlead/core";
import { toVisibleLine } from "@fairlead/core/text";
import { MCPToolTestHelper } from "@fairlead/core/testing";
import { connect } from "@fairlead/wire";
const host = await createHost({ settings: { mcpServers: {} } });
await host.start();
const { content } = await host.call("demo", "greet", { name: "Ada" });
console.log(toVisibleLine(content[0].text), host.tools().length > 0, typeof connect, HostError.name);
await MCPToolTestHelper.testToolExecution(MCPToolTestHelper.createTestTool(), {}, { success: true });
await host[Symbol.asyncDispose]();
`,
  thread: `import { DiscoveredMCPTool, SecureMCPToolExecutor } from "@fairlead/core";
import { MCPToolTestHelper } from "@fairlead/core/testing";
const parameterSchemaJson = { type: "object", properties: { a: { type: "string", pattern: "^(x+x+)+y$" } } };
const tool = MCPToolTestHelper.createTestTool("s", "t", { parameterSchemaJson });
const executor = new SecureMCPToolExecutor();
await executor.executeWithSafeguards(tool, { a: 5 }).catch(({ code }) => console.log(code));
await executor[Symbol.asyncDispose]();
`,
  inside: `const scoped = ["core/host/gate", "core/errors", "core/dist/index.js", "wire/connect", "wire/rpc"];
const command = ["fairlead", "fairlead/bundle/main.cjs", "fairlead/bin/fairlead.cjs"];
for (const path of [...scoped.map((each) => \`@fairlead/\${each}\`), ...command])
  await import(path).then(() => console.log(path), ({ code }) => console.log(code));
`,
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Beside our own packages there is what they declare, and nothing else: what is used and not declared is not found. */
async function install(into: string): Promise<void> {
  // The release script packs first, so that it publishes the tarballs which this test has tried.
  const packed = process.env["FAIRLEAD_TARBALLS"];
  if (packed === undefined) {
    const packages = ["packages/wire", "packages/core", "packages/cli"];
    const workspaces = packages.flatMap((path) => ["--workspace", path]);
    const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", into, ...workspaces];
    await run("npm", pack, { cwd: root, shell: process.platform === "win32" });
  } else cpSync(packed, into, { recursive: true });
  for (const tarball of readdirSync(into).filter((file) => file.endsWith(".tgz"))) {
    execFileSync("tar", ["-xzf", tarball], { cwd: into });
    const { name, dependencies = {} } = JSON.parse(
      readFileSync(join(into, "package/package.json"), "utf8"),
    ) as Manifest;
    cpSync(join(into, "package"), join(into, "node_modules", name), { recursive: true });
    for (const dependency of Object.keys(dependencies))
      if (!dependency.startsWith("@fairlead/")) link(join("node_modules", dependency), into);
    execFileSync("rm", ["-r", "package"], { cwd: into });
  }
}

/** In the place of a download. */
function link(path: string, into: string): void {
  mkdirSync(dirname(join(into, path)), { recursive: true });
  try {
    symlinkSync(join(root, path), join(into, path), "junction");
  } catch (error) {
    // Two packages may need the same.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function environment(): NodeJS.ProcessEnv {
  const home = join(folder.path, "home");
  const none = join(folder.path, "none.json");
  return { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: none, NO_COLOR: "1" };
}

/** A program of a reader's, as a file in that folder. */
async function runProgram(name: string, text: string, env = environment()): Promise<string> {
  writeFileSync(join(folder.path, name), text);
  const { stdout } = await run(process.execPath, [name], { cwd: folder.path, env });
  return stdout;
}

/** The line between the outputs of two programs that run in one process. */
const mark = "---";

async function runPrograms(): Promise<typeof printed> {
  const names = Object.keys(programs);
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder.path, `${name}.mjs`), text);
  const all = `for (const name of ${JSON.stringify(names)}) {
  await import(\`./\${name}.mjs\`).catch(console.log);
  console.log("${mark}");
}
`;
  const texts = (await runProgram("all.mjs", all)).split(`${mark}\n`);
  return Object.fromEntries(names.map((name, at) => [name, texts[at]])) as typeof printed;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  mkdirSync(join(folder.path, "home"));
  writeFileSync(join(folder.path, "package.json"), JSON.stringify({ name: "reader", type: "module" }));
  await install(folder.path);
  printed = await runPrograms();
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

test.each(["@fairlead/wire", "@fairlead/core", "fairlead"])("%s brings its README and its license", (name) => {
  const files = readdirSync(join(folder.path, "node_modules", name));
  expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE"]));
  const license = readFileSync(join(folder.path, "node_modules", name, "LICENSE"), "utf8");
  expect(license).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
});

test("the command runs", async () => {
  const program = join(folder.path, "node_modules/fairlead/bin/fairlead.cjs");
  const fairlead = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [program, ...args], { cwd: folder.path, env: environment() })).stdout;
  expect(await fairlead("--version")).toMatch(/^\d+[.]\d+[.]\d+\n$/);
  expect(await fairlead("call", "demo.greet", "name=Ada")).toBe("Hello, Ada!\n");
});

test("the library runs, with what it declares to need", () => {
  expect(printed.library).toBe("Hello, Ada! true function HostError\n");
});

test("the libraries write their code cache once, and run from it", async () => {
  const program = `import { HostError } from "@fairlead/core";
import { WireError } from "@fairlead/wire";
console.log(HostError.name, WireError.name);
`;
  const cached = (): string[] =>
    ["core", "wire"].flatMap((name) => readdirSync(join(folder.path, `node_modules/@fairlead/${name}/dist/cache`)));
  // The programs that ran before this test have written it.
  const files = cached();
  expect(files).toHaveLength(2);
  expect(await runProgram("cached.mjs", program)).toBe("HostError WireError\n");
  expect(cached()).toEqual(files);
});

test("a bundler takes the libraries as modules, into one file", async () => {
  const program = `import { createHost } from "@fairlead/core";
const host = await createHost({ settings: { mcpServers: {} }, workspace: false });
console.log((await host.call("demo", "greet", { name: "Ada" })).content[0].text);
await host[Symbol.asyncDispose]();
`;
  writeFileSync(join(folder.path, "bundled.mjs"), program);
  // In a process of its own, because the bundler keeps 200 MB of memory. That process then runs what it has made.
  const bundler = pathToFileURL(createRequire(import.meta.url).resolve("rolldown")).href;
  const bundle = `import { rolldown } from ${JSON.stringify(bundler)};
const external = /^@(?:napi-rs|google)[/]/;
const build = await rolldown({ input: "bundled.mjs", platform: "node", external });
await build.write({ file: "bundle/program.mjs", codeSplitting: false });
await build.close();
await import("./bundle/program.mjs");
`;
  const stdout = await runProgram("bundler.mjs", bundle);
  expect(stdout).toBe("Hello, Ada!\n");
});

test("the programs of the docs run", async () => {
  await using gemini = await geminiApi();
  await using openai = await openaiApi();
  await using anthropic = await anthropicApi();
  const env = {
    ...environment(),
    GEMINI_API_KEY: gemini.settings.apiKey,
    GOOGLE_GEMINI_BASE_URL: gemini.baseUrl,
    OPENAI_BASE_URL: openai.baseUrl,
    OPENAI_MODEL: "test-model",
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
    ANTHROPIC_API_KEY: anthropic.settings.apiKey,
  };
  const greet = 'call demo__greet {"name":"Ada"}';
  const programs = {
    agent: greet,
    approval: greet,
    batch: greet,
    "openai-loop": greet,
    "anthropic-loop": greet,
    "by-hand": "{}",
  };
  const names = Object.keys(programs);
  for (const name of names) cpSync(join(root, "docs/examples", `${name}.mjs`), join(folder.path, `${name}.mjs`));
  const inputs = { approval: "1\n", batch: `${greet}\n` };
  // One process imports the programs one after the other, each with its own arguments and input.
  const all = `import { Readable } from "node:stream";
for (const [name, argument] of Object.entries(${JSON.stringify(programs)})) {
  process.argv[2] = argument;
  Object.defineProperty(process, "stdin", { value: Readable.from([${JSON.stringify(inputs)}[name] ?? ""]), configurable: true });
  await import(\`./\${name}.mjs\`).catch(console.log);
  console.log("${mark}");
}
`;
  const texts = (await runProgram("docs.mjs", all, env)).split(`${mark}\n`);
  const said = names.map((name, at) => [name, /Hello, Ada!|denied/.exec(texts[at] ?? "")?.[0]]);
  expect(Object.fromEntries(said)).toEqual({
    agent: "Hello, Ada!",
    approval: "Hello, Ada!",
    batch: "denied",
    "openai-loop": "Hello, Ada!",
    "anthropic-loop": "Hello, Ada!",
    "by-hand": undefined,
  });
});

test("a schema that only a thread may look at is validated", () => {
  expect(printed.thread).toBe("arguments_invalid\n");
});

test("what is not public cannot be imported", () => {
  expect(printed.inside).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n".repeat(8));
});

describe("the types", () => {
  const compilerOptions = {
    target: "es2023",
    lib: ["es2023"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };

  const sound = `import { createHost, type MCPServerConfig, type SettingsObject, type ToolResult } from "@fairlead/core";
import * as everything from "@fairlead/core";
import { MCPToolTestHelper } from "@fairlead/core/testing";
import { type SafeText, toSafeText } from "@fairlead/core/text";
import { connect, type Session } from "@fairlead/wire";

const files: MCPServerConfig = { command: "npx", args: ["-y", "server"] };
const settings: SettingsObject = { mcpServers: { files } };
const host = await createHost({ settings, confirm: async ({ outcomes }) => outcomes[0] ?? "cancel" });
const result: ToolResult = await host.callAsModel("demo__greet", { name: "Ada" });
const shown: SafeText = toSafeText(result.returnDisplay);
const tool = MCPToolTestHelper.createTestTool();
const sessions: Session[] = [];
export { connect, everything, sessions, shown, tool };
`;
  const mistaken = `import { createHost } from "@fairlead/core";
import "@fairlead/core/host/gate";
await createHost({ setings: {} });
`;
  /** What the compiler says about both programs, which it reads at once, a line each. */
  let said: readonly string[];

  beforeAll(async () => {
    link("node_modules/@types/node", folder.path);
    link("node_modules/undici-types", folder.path);
    const programs = { "sound.ts": sound, "mistaken.ts": mistaken };
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder.path, name), text);
    const files = Object.keys(programs);
    writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [compiler, "-p", ".", "--pretty", "false"], {
      cwd: folder.path,
    }).catch((error: { readonly stdout: string }) => error);
    said = stdout.split("\n").filter((line) => line !== "");
  });

  test("check without DOM types, and without leaving out what libraries declare", () => {
    expect(said.filter((line) => !line.startsWith("mistaken.ts("))).toEqual([]);
  });

  test("name a mistake", () => {
    expect(said).toEqual([
      expect.stringContaining("mistaken.ts(2,8): error TS2882: "),
      expect.stringContaining("'setings' does not exist in type 'HostOptions'"),
    ]);
  });
});
