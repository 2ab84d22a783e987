/** The packages as they are published: packed, unpacked in an empty folder, used as a reader of the docs would. */

import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import {
  anthropicApi,
  geminiApi,
  openaiApi,
  scaled,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineOf, openPageAt, visitConsole } from "./support/console-client.ts";
import { type Block, blocksOf, pages } from "./support/doc-blocks.ts";
import { isWhole, nodeWays, packedWays, released, tarballsIn, type Way } from "./support/installed.ts";
import { processesOf } from "./support/left-over.ts";
import { type Machine, machine, userFile } from "./support/machine.ts";
import { openProgram } from "./support/terminal.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);
let folder: TemporaryFolder;
/** What each of the small programs has printed. */
let printed: Readonly<Record<keyof typeof programs, string>>;
let installed: readonly Way[];

/** Programs of a reader's. One process imports one after the other: each loads the same libraries. */
const programs = {
  library: `import { createHost, HostError } from "@fairlead/core";
import { toVisibleLine } from "@fairlead/core/text";
import { MCPToolTestHelper } from "@fairlead/core/testing";
const host = await createHost({ settings: { mcpServers: {} } });
await host.start();
const { content } = await host.call("demo", "greet", { name: "Ada" });
console.log(toVisibleLine(content[0].text), host.tools().length > 0, HostError.name);
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
  inside: `const scoped = ["core/host/gate", "core/errors", "core/dist/index.js"];
const command = ["fairlead", "fairlead/bundle/main.cjs", "fairlead/bin/fairlead.cjs"];
for (const path of [...scoped.map((each) => \`@fairlead/\${each}\`), ...command])
  await import(path).then(() => console.log(path), ({ code }) => console.log(code));
`,
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
}

/**
 * Unpacks tarballs as npm does. Beside a package there is what it declares, and nothing else: what is used and not
 * declared is not found. No package of ours is on a registry, so each tarball must bring those that it needs.
 */
function install(from: string, packages: RegExp, into: string): void {
  for (const tarball of readdirSync(from).filter((file) => packages.test(file))) {
    const unpacked = join(into, "package");
    execFileSync("tar", ["-xzf", join(from, tarball), "-C", into]);
    const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as Manifest;
    const { name, dependencies = {}, bundleDependencies = [] } = manifest;
    mkdirSync(dirname(join(into, "node_modules", name)), { recursive: true });
    renameSync(unpacked, join(into, "node_modules", name));
    for (const dependency of Object.keys(dependencies).filter((each) => !bundleDependencies.includes(each))) {
      expect(dependency).not.toMatch(/^(?:@fairlead[/]|fairlead$)/);
      link(join("node_modules", dependency), into);
    }
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
  const from = await tarballsIn(join(folder.path, "tarballs"));
  install(from, /^fairlead-(?:core-)?[0-9].*[.]tgz$/, folder.path);
  mkdirSync(join(folder.path, "wire"));
  install(from, /^fairlead-wire-.*[.]tgz$/, join(folder.path, "wire"));
  printed = await runPrograms();
  const [unpacked, ways] = [join(folder.path, "node_modules/fairlead"), join(folder.path, "ways")];
  mkdirSync(ways);
  installed = [...nodeWays(ways, from, unpacked), ...(isWhole ? await packedWays(ways) : [])];
}, 300_000);

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

test.each([
  "node_modules/fairlead",
  "node_modules/@fairlead/core",
  "node_modules/@fairlead/core/node_modules/@fairlead/wire",
  "wire/node_modules/@fairlead/wire",
])("%s brings its README and its license", (path) => {
  const files = readdirSync(join(folder.path, path));
  expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE"]));
  const license = readFileSync(join(folder.path, path, "LICENSE"), "utf8");
  expect(license).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
});

test("the command runs", async () => {
  const program = join(folder.path, "node_modules/fairlead/bin/fairlead.cjs");
  const fairlead = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, [program, ...args], { cwd: folder.path, env: environment() })).stdout;
  expect(await fairlead("--version")).toMatch(/^\d+[.]\d+[.]\d+\n$/);
  expect(await fairlead("call", "demo.greet", "name=Ada")).toBe("Hello, Ada!\n");
});

test("the library runs, with what it declares to need and the protocol engine inside", () => {
  expect(printed.library).toBe("Hello, Ada! true HostError\n");
});

test("the protocol engine runs alone", async () => {
  const program = `import { connect } from "@fairlead/wire";
console.log(typeof connect);
for (const path of ["connect", "rpc"]) await import(\`@fairlead/wire/\${path}\`).catch(({ code }) => console.log(code));
`;
  expect(await runProgram("wire/alone.mjs", program)).toBe(`function\n${"ERR_PACKAGE_PATH_NOT_EXPORTED\n".repeat(2)}`);
});

test("the libraries write their code cache once, and run from it", async () => {
  const program = `import { HostError } from "@fairlead/core";
console.log(HostError.name);
`;
  const core = join(folder.path, "node_modules/@fairlead/core");
  const cached = (): string[] =>
    [core, join(core, "node_modules/@fairlead/wire")].flatMap((path) => readdirSync(join(path, "dist/cache")));
  // The programs that ran before this test have written it.
  const files = cached();
  expect(files).toHaveLength(2);
  expect(await runProgram("cached.mjs", program)).toBe("HostError\n");
  expect(cached()).toEqual(files);
});

test("@fairlead/core/gemini loads no file that @fairlead/core does not load, and the command has none of it", () => {
  const dist = join(folder.path, "node_modules/@fairlead/core/dist");
  const loads = (file: string): readonly string[] =>
    [...readFileSync(join(dist, file), "utf8").matchAll(/(?:require[(]|from ?)"([^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
  for (const [gemini, index] of [
    ["gemini.cjs", "index.cjs"],
    ["esm/gemini.js", "esm/index.js"],
  ] as const) {
    expect(loads(gemini).length).toBeGreaterThan(0);
    expect(loads(index)).toEqual(expect.arrayContaining([...new Set(loads(gemini))]));
  }
  const has = (path: string): boolean =>
    readdirSync(path).some(
      (file) => /[.]cjs$/.test(file) && readFileSync(join(path, file)).includes("McpDiscoveryWarning"),
    );
  expect([has(dist), has(join(folder.path, "node_modules/fairlead/bundle"))]).toEqual([true, false]);
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
  expect(printed.inside).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n".repeat(6));
});

const from = released;
if (from !== undefined)
  test("npm installs each tarball alone, with other people's packages from its registry", async () => {
    const names = readdirSync(from).filter((name) => name.endsWith(".tgz"));
    expect(names).toHaveLength(3);
    for (const name of names) {
      const into = join(folder.path, "npm", name);
      mkdirSync(into, { recursive: true });
      writeFileSync(join(into, "package.json"), JSON.stringify({ name: "reader", type: "module" }));
      await run("npm", ["install", "--no-audit", "--no-fund", join(from, name)], { cwd: into });
      const [own = ""] = Object.keys(JSON.parse(readFileSync(join(into, "package.json"), "utf8")).dependencies);
      const program = own === "fairlead" ? "" : `await import("${own}");`;
      expect(await run(process.execPath, ["--input-type=module", "-e", program], { cwd: into })).toMatchObject({
        stderr: "",
      });
    }
    const command = join(
      folder.path,
      "npm",
      names.find((name) => /^fairlead-[0-9]/.test(name)) ?? "",
      "node_modules/.bin/fairlead",
    );
    expect((await run(command, ["call", "demo.greet", "name=Ada"], { env: environment() })).stdout).toBe(
      "Hello, Ada!\n",
    );
  }, 300_000);

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

const files: MCPServerConfig = { command: "npx", args: ["-y", "server"] };
const settings: SettingsObject = { mcpServers: { files } };
const host = await createHost({ settings, confirm: async ({ outcomes }) => outcomes[0] ?? "cancel" });
const result: ToolResult = await host.callAsModel("demo__greet", { name: "Ada" });
const shown: SafeText = toSafeText(result.returnDisplay);
const tool = MCPToolTestHelper.createTestTool();
export { everything, shown, tool };
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

describe("the blocks of README and docs", () => {
  const blocks = pages.flatMap(blocksOf);
  const of = (fence: string): readonly Block[] => blocks.filter((block) => block.fence === fence);

  /** What the compiler says about the blocks, each in a file of its own in an empty project. */
  async function complaints(programs: readonly Block[], extension: "ts" | "mjs", options: object): Promise<string> {
    const files = programs.map((_, at) => `block-${at}.${extension}`);
    for (const [at, { code }] of programs.entries())
      writeFileSync(join(folder.path, files[at] ?? ""), `${code}\nexport {};\n`);
    const compilerOptions = { target: "es2022", lib: ["es2023"], module: "nodenext", types: ["node"], ...options };
    const project = `tsconfig.${extension}.json`;
    writeFileSync(join(folder.path, project), JSON.stringify({ compilerOptions, files }));
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [compiler, "-p", project, "--noEmit", "--pretty", "false"], {
      cwd: folder.path,
    }).catch((error: { readonly stdout: string }) => error);
    return stdout.replaceAll(/^block-(\d+)[.]\w+/gm, (_, at: string) => programs[Number(at)]?.at ?? "");
  }

  beforeAll(async () => {
    for (const name of ["@types/node", "undici-types", "vitest", "@google/genai"])
      link(`node_modules/${name}`, folder.path);
    const program = join(folder.path, "node_modules/fairlead/bin/fairlead.cjs");
    await run(process.execPath, [program, "generate", "ts", "demo", "-o", "demo.ts"], {
      cwd: folder.path,
      env: environment(),
    });
  });

  test("compile under tsc --strict, in an empty project with the tarballs; the count is printed", async () => {
    const [typed, plain] = [of("ts"), of("js")];
    // Other people's declarations need types of browsers.
    expect(await complaints(typed, "ts", { strict: true, skipLibCheck: true })).toBe("");
    const examples = readdirSync(join(root, "docs/examples")).map((name) =>
      readFileSync(join(root, "docs/examples", name), "utf8"),
    );
    // The examples run in another test. They have no types for the parameters of their functions.
    const checked = plain.filter(({ code }) => !examples.includes(`${code}\n`));
    expect(checked.length).toBeLessThan(plain.length);
    expect(await complaints(checked, "mjs", { allowJs: true, checkJs: true, strict: false, skipLibCheck: true })).toBe(
      "",
    );
    const others = `${of("ts fragment").length + of("js fragment").length} are parts of a program, ${of("ts declaration").length} declarations`;
    process.stderr.write(
      `blocks of the docs: ${typed.length} TypeScript and ${plain.length} JavaScript programs compile; ${others}\n`,
    );
    expect(typed.length).toBeGreaterThan(10);
  });

  test("run as they stand, with nothing configured", async () => {
    const written = ["README.md", "README.zh-CN.md", "docs/library.md", "docs/typed-clients.md", "docs/models.md"];
    const programs = of("ts").filter(({ at }) => written.includes(at.split(":")[0] ?? ""));
    expect(programs.length).toBeGreaterThan(5);
    const untyped = (code: string): string =>
      transformSync(code, { loader: "ts", format: "esm", target: "node20" }).code;
    writeFileSync(join(folder.path, "demo.js"), untyped(readFileSync(join(folder.path, "demo.ts"), "utf8")));
    for (const [at, { code }] of programs.entries()) writeFileSync(join(folder.path, `run-${at}.mjs`), untyped(code));
    const all = programs.map((_, at) => `await import("./run-${at}.mjs");\nconsole.log("${mark}");\n`).join("");
    const outputs = (await runProgram("run-all.mjs", all)).split(`${mark}\n`).slice(0, -1);
    const said = outputs.map((output, at) => [
      programs[at]?.at.split(":")[0],
      /Hello, Ada!|Bonjour, Ada!/.exec(output)?.[0],
    ]);
    expect(said).toEqual([
      ["README.md", "Hello, Ada!"],
      ["README.zh-CN.md", "Hello, Ada!"],
      ["docs/library.md", "Hello, Ada!"],
      // It chooses a model, and there is none.
      ["docs/models.md", undefined],
      ["docs/models.md", "Hello, Ada!"],
      ["docs/typed-clients.md", "Bonjour, Ada!"],
    ]);
  });
});

interface SecretServiceSupport {
  readonly missing: readonly string[];
  readonly realSecretService: (state: "unlocked") => Promise<AsyncDisposable & { readonly address: string }>;
}

describe("installed in each way", () => {
  const checks = `server: demo
checks:
  - name: validated in a thread
    call: statistics
    arguments: { text: one two }
    expect: { schema: { type: object, properties: { longestWord: { type: string, pattern: "^(x+x+)+y$|^one$" } } } }
`;
  const server = stdioServer("well-behaved");
  const commands = [
    ["--version"],
    ["--help"],
    ["mcp", "add", "-s", "user", "files", server.command, ...server.args],
    ["mcp", "list"],
    ["tools", "--search", "count the words of a text"],
    ["call", "demo.greet", "name=Ada", "language=fr"],
    ["call", "demo.statistics", "text=one two three", "--json"],
    ["-p", "demo.greet name=Ada", "--model", "manual", "--servers", "demo", "--allow", "demo.greet"],
    ["test", "checks.yaml"],
    ["completion", "zsh"],
  ];

  /** An empty home whose PATH has this Fairlead, and Node only where Fairlead needs it. */
  async function machineWith({ folder: own, root: unpacked }: Way): Promise<Machine> {
    const here = await machine({ "project/checks.yaml": checks });
    const PATH = unpacked === undefined ? `${own}:${dirname(process.execPath)}` : own;
    return { ...here, env: { ...here.env, PATH } };
  }

  async function fairlead(here: Machine, words: readonly string[], env: NodeJS.ProcessEnv = {}, input = "") {
    const child = run("fairlead", words, { cwd: here.project, env: { ...here.env, ...env } });
    child.child.stdin?.end(input);
    const { stdout, stderr } = await child;
    const same = (text: string): string =>
      text
        .replaceAll(here.path, "/home/ada")
        .replaceAll(/\b[0-9.]+ m?s\b/g, "…")
        .replaceAll(/(?<="durationMs": )[0-9]+/g, "…");
    return { stdout: same(stdout), stderr: same(stderr) };
  }

  test("the same ten commands give the same output; size and start-up time are printed", async () => {
    const lines: string[] = [];
    const outputs = new Map<string, unknown>();
    for (const way of installed) {
      await using here = await machineWith(way);
      for (const words of commands) {
        const output = await fairlead(here, words);
        if (!outputs.has(words.join(" "))) outputs.set(words.join(" "), output);
        expect([way.name, words, output]).toEqual([way.name, words, outputs.get(words.join(" "))]);
      }
      const times: number[] = [];
      for (let at = 0; at < scaled(5, 2); at += 1) {
        const begin = performance.now();
        await fairlead(here, ["tools", "demo"]);
        times.push(performance.now() - begin);
      }
      lines.push(`${way.name} ${(way.bytes / 1e6).toFixed(1)} MB, tools in ${Math.min(...times).toFixed(0)} ms`);
    }
    expect(commands).toHaveLength(10);
    expect(outputs.get("call demo.greet name=Ada language=fr")).toEqual({ stdout: "Bonjour, Ada!\n", stderr: "" });
    if (!isWhole) lines.push("executable and Debian package not tried (npm test -- --long, npm run release)");
    process.stderr.write(`installed: ${lines.join("; ")}\n`);
  }, 120_000);

  test("the console has its whole page inside", async () => {
    for (const way of installed) {
      await using here = await machineWith(way);
      const child = spawn("fairlead", ["console", "--no-open"], { cwd: here.project, env: here.env });
      const session = await visitConsole(await lineOf(child.stdout, /^http:/));
      const { type, text } = await openPageAt(session.origin);
      expect([way.name, type]).toEqual([way.name, "text/html; charset=utf-8"]);
      const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
      expect(files.filter((path) => path.endsWith(".js")).length).toBeGreaterThan(0);
      for (const path of files) {
        const file = await fetch(session.origin + path);
        expect([way.name, path, file.status, (await file.text()).length > 0]).toEqual([way.name, path, 200, true]);
      }
      expect((await session.snapshot()).servers).toEqual([expect.objectContaining({ name: "demo" })]);
      child.kill("SIGINT");
      await once(child, "exit");
      await fairlead(here, ["daemon", "stop"]);
      await until(() => processesOf(here).length === 0);
    }
  }, 120_000);

  /** Starts `fairlead serve` as a client does, and has it list the tools of a server of its own. */
  async function serve(here: Machine, ...words: readonly string[]): Promise<ChildProcess> {
    await here.write(userFile, { mcpServers: { files: server } });
    const child = spawn("fairlead", ["serve", ...words], {
      cwd: here.project,
      env: here.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (method: string, params: object): Promise<string> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: method, method, params })}\n`);
      for (;;) {
        const { value } = (await lines.next()) as { readonly value: string };
        if (value.includes(`"id":"${method}"`)) return value;
      }
    };
    const clientInfo = { name: "reader", version: "1" };
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    expect(await ask("initialize", hello)).toContain('"name":"fairlead"');
    expect(await ask("tools/list", {})).toMatch(/"inputSchema"/);
    return child;
  }

  // Other tests cover this for the clone.
  if (isWhole) {
    test("a client's relay starts the background host, which starts the servers, and nothing is left", async () => {
      for (const way of installed) {
        await using here = await machineWith(way);
        const relay = await serve(here);
        expect((await fairlead(here, ["daemon", "status"])).stdout).toMatch(/running: process [\s\S]*files connected/);
        relay.stdin?.end();
        await once(relay, "exit");
        await fairlead(here, ["daemon", "stop"]);
        await until(() => processesOf(here).length === 0);
      }
    }, 120_000);

    test("the terminal app opens and runs a tool", async () => {
      for (const way of installed) {
        await using here = await machineWith(way);
        await using terminal = openProgram(here, join(way.folder, "fairlead"), "--model", "manual");
        await terminal.until(/›/);
        terminal.type("demo.greet name=Ada\r");
        await terminal.until(/Hello, Ada!/);
        terminal.type("/quit\r");
        expect([way.name, await terminal.exitCode]).toEqual([way.name, 0]);
      }
    }, 120_000);

    const packed = (): readonly Way[] => installed.filter(({ root }) => root !== undefined);

    test("servers do not survive an executable that is killed", async () => {
      for (const way of packed()) {
        await using here = await machineWith(way);
        const host = await serve(here, "--alone");
        expect(processesOf(here).length).toBeGreaterThan(1);
        host.kill("SIGKILL");
        await until(() => processesOf(here).length === 0);
      }
    });

    test("secrets are in the keychain, whose native code is in the state folder", async () => {
      const support = new URL("../../core/test/support/real-secret-service.ts", import.meta.url).href;
      const { missing, realSecretService } = (await import(support)) as SecretServiceSupport;
      if (missing.length > 0) return void process.stderr.write(`keychain not tried: no ${missing.join(", ")}\n`);
      await using keychain = await realSecretService("unlocked");
      const env = { DBUS_SESSION_BUS_ADDRESS: keychain.address };
      for (const way of packed()) {
        await using here = await machineWith(way);
        await fairlead(here, ["secret", "set", "TOKEN"], env, "a-secret");
        const { stdout } = await fairlead(here, ["doctor"], env);
        expect([way.name, stdout]).toEqual([way.name, expect.stringMatching(/secrets +ok +1 stored in .*keychain/)]);
        const native = join(here.home, ".fairlead/native");
        expect(readdirSync(native)).toEqual([expect.stringMatching(/^keyring-[0-9a-f]{16}[.]node$/)]);
        // A file that was changed is not loaded, but written again.
        const [name = ""] = readdirSync(native);
        writeFileSync(join(native, name), "changed");
        expect((await fairlead(here, ["doctor"], env)).stdout).toBe(stdout);
      }
    });

    const debianPackage = (): Way | undefined => installed.find(({ name }) => name === "Debian package");

    test("lintian finds no error and no warning in the Debian package", () => {
      const { file = "" } = debianPackage() ?? {};
      // Not the spelling in the program: it is Node's, and takes half of the time.
      const args = ["--fail-on", "error,warning", "--dont-check-part", "binaries/spelling", file];
      const { error, status, stdout } = spawnSync("lintian", args, { encoding: "utf8" });
      if (error) return void process.stderr.write("Debian package not checked: no lintian here\n");
      expect([status, stdout]).toEqual([0, ""]);
    }, 120_000);

    test("the unit of the Debian package serves over HTTP", async () => {
      const { root: files = "", folder: own = "" } = debianPackage() ?? {};
      const unit = readFileSync(join(files, "usr/lib/systemd/user/fairlead.service"), "utf8");
      const [, words = ""] = /^ExecStart=[/]usr[/]bin[/]fairlead (serve --http --port )4100$/m.exec(unit) ?? [];
      await using here = await machine();
      // Port 0 is any free port.
      const child = spawn(join(own, "fairlead"), [...words.trim().split(" "), "0"], { env: here.env });
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { url } = JSON.parse(line) as { readonly url: string };
      // The token is the user's: without it, the gateway refuses.
      expect((await fetch(url, { method: "POST" })).status).toBe(401);
      child.kill();
      await once(child, "exit");
      execFileSync(join(own, "fairlead"), ["daemon", "stop"], { env: here.env });
    });

    test("the Debian package has completion scripts, a man page, and a unit that is not enabled", () => {
      const { root: files = "" } = debianPackage() ?? {};
      const paths = readdirSync(files, { recursive: true, withFileTypes: true, encoding: "utf8" });
      const names = paths.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
      expect(names.map((name) => name.slice(files.length)).sort()).toEqual([
        "/usr/bin/fairlead",
        "/usr/lib/systemd/user/fairlead.service",
        "/usr/share/bash-completion/completions/fairlead",
        "/usr/share/doc/fairlead/CHANGELOG.md.gz",
        "/usr/share/doc/fairlead/changelog.gz",
        "/usr/share/doc/fairlead/copyright",
        "/usr/share/doc/fairlead/node.txt.gz",
        "/usr/share/fish/vendor_completions.d/fairlead.fish",
        "/usr/share/lintian/overrides/fairlead",
        "/usr/share/man/man1/fairlead.1.gz",
        "/usr/share/zsh/vendor-completions/_fairlead",
      ]);
      for (const { parentPath } of paths) expect(statSync(parentPath).mode & 0o777).toBe(0o755);
      const unit = readFileSync(join(files, "usr/lib/systemd/user/fairlead.service"), "utf8");
      expect(unit).toContain("[Install]\nWantedBy=default.target\n");
      const completions = "usr/share/bash-completion/completions/fairlead";
      const script = `. "${join(files, completions)}"; COMP_LINE="fairlead do" COMP_POINT=11; _fairlead; echo "\${COMPREPLY[@]}"`;
      const env = { PATH: `${join(files, "usr/bin")}:/usr/bin:/bin`, HOME: join(folder.path, "home") };
      expect(execFileSync("bash", ["-c", script], { env, encoding: "utf8" })).toBe("doctor\n");
    });
  }
});
