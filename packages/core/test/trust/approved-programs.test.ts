import { createHash } from "node:crypto";
import { chmod, mkdir, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { checkApprovedPrograms } from "../../src/trust/admit.ts";
import { readApprovals } from "../../src/trust/approvals.ts";
import { firstLine, isSamePrograms, readPrograms, withPrograms } from "../../src/trust/approved-programs.ts";
import { programPlace } from "../../src/trust/programs.ts";
import { admissionOf, approveAll, type Machine, trustedMachine, workspaceFile } from "../support/machine.ts";

/** A trusted workspace with one server, and its `PATH`; every program is a script that would only say its name. */
async function scene(entry: object, path: readonly string[] = ["work/bin", "usr/bin"]) {
  const here = await trustedMachine({ mcpServers: { ours: entry } });
  const env = { PATH: path.map((folder) => join(here.path, folder)).join(":") };
  const status = async (): Promise<unknown> => {
    const admission = admissionOf(await here.load({}, env), "ours");
    return admission?.status === "blocked"
      ? `${admission.reason}: ${nameless(admission.message, here)}`
      : admission?.status;
  };
  return {
    here,
    program: (file: string, text = "#!/bin/sh\n") => program(here, file, text),
    link: async (file: string, target: string) => {
      await mkdir(dirname(join(here.path, file)), { recursive: true });
      await rm(join(here.path, file), { force: true });
      await symlink(join(here.path, target), join(here.path, file));
    },
    approve: () => approveAll(here, undefined, env),
    status,
    load: () => here.load({}, env),
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

async function program(here: Machine, file: string, text: string): Promise<void> {
  await chmod(await here.write(file, text), 0o755);
}

/** What an admission says, after the place of the entry. */
function nameless(message: string, { path }: Machine): string {
  return message.replace(`"ours" (${join(path, workspaceFile)}:3) `, "").replaceAll(`${path}/`, "");
}

const another = (file: string): string => `awaiting_approval: would run another program than you approved: ${file}`;
const changed = (file: string): string =>
  `awaiting_approval: would run a file that has changed since you approved it: ${file}`;

test("retargeting a link of the command asks again, in the workspace and outside it", async () => {
  await using scenes = await scene({ command: "tool" });
  const { program, link, approve, status } = scenes;
  for (const name of ["one", "two"]) await program(`opt/${name}`);
  for (const name of ["one", "two"]) await program(`work/lib/${name}`);
  for (const folder of ["usr/bin", "work/bin"]) {
    await link(`${folder}/tool`, "opt/one");
    await approve();
    expect(await status()).toBe("admitted");
    await link(`${folder}/tool`, "opt/two");
    expect(await status()).toBe(another("opt/two"));
    await link(`${folder}/tool`, "work/lib/one");
    expect(await status()).toBe(another("work/lib/one"));
  }
});

test("a program of the same name earlier on PATH asks again, and no longer when it is gone", async () => {
  await using scenes = await scene({ command: "tool" });
  const { here, program, approve, status } = scenes;
  await program("usr/bin/tool");
  await approve();
  expect(await status()).toBe("admitted");
  await program("work/bin/tool");
  expect(await status()).toBe(another("work/bin/tool"));
  await rm(join(here.path, "work/bin/tool"));
  expect(await status()).toBe("admitted");
});

test.each([
  ["the command itself", { command: "./bin/tool" }, "work/bin/tool"],
  ["a command found on PATH", { command: "tool" }, "work/bin/tool"],
  [
    "a script of an interpreter",
    { command: "node", args: ["--no-warnings", "./server.js", "data.db"] },
    "work/server.js",
  ],
  ["a preloaded file", { command: "node", args: ["--import", "./hook.js", "./server.js"] }, "work/hook.js"],
  [
    "the script after a preloaded file",
    { command: "node", args: ["--import=./hook.js", "server.js"] },
    "work/server.js",
  ],
  [
    "the script after a file of another option",
    { command: "node", args: ["--env-file", "data.db", "--conditions", "x", "./server.js"] },
    "work/server.js",
  ],
  ["the file of any option", { command: "node", args: ["--env-file=data.db", "./server.js"] }, "work/data.db"],
  ["a file after the script", { command: "node", args: ["server.js", "data.db"] }, "work/data.db"],
  ["a script without its ending", { command: "node", args: ["./server"] }, "work/server.js"],
  ["the index of a folder", { command: "node", args: ["./folder"] }, "work/folder/index.js"],
  ["the main file of a package", { command: "node", args: ["."], cwd: "package" }, "work/package/start.cjs"],
  [
    "a file that NODE_OPTIONS loads",
    { command: "./bin/tool", env: { NODE_OPTIONS: '--no-warnings --require "./a hook.js"' } },
    "work/a hook.js",
  ],
  ["a file that BASH_ENV names", { command: "bash", args: ["-c", "x"], env: { BASH_ENV: "hook.js" } }, "work/hook.js"],
  ["the file of a short option", { command: "node", args: ["-r./hook.js", "./server"] }, "work/hook.js"],
  ["a script in the entry's folder", { command: "node", args: ["main.js"], cwd: "lib" }, "work/lib/main.js"],
  ["the interpreter that the first line names", { command: "./bin/script" }, "work/bin/ours-only"],
])("another content of %s asks again", async (_, entry, file) => {
  await using scenes = await scene(entry);
  const { program, approve, status } = scenes;
  for (const name of ["work/bin/tool", "work/bin/ours-only", "work/server.js", "work/hook.js", "work/lib/main.js"])
    await program(name);
  for (const name of ["work/folder/index.js", "work/package/start.cjs", "work/a hook.js"]) await program(name);
  await program("work/package/package.json", '{ "main": "start" }');
  await program("work/bin/script", "#!/usr/bin/env -S ours-only --flag\n");
  await program("work/data.db");
  await program("usr/bin/node");
  await approve();
  expect(await status()).toBe("admitted");
  await program(file, "#!/bin/sh\necho changed\n");
  expect(await status()).toBe(changed(file));
  await approve();
  expect(await status()).toBe("admitted");
});

test("what is not covered does not ask: content outside the workspace, other files, what a script imports", async () => {
  await using scenes = await scene({ command: "node", args: ["server.js", "--folder", "data"] });
  const { program, approve, status } = scenes;
  const files = ["usr/bin/node", "work/data/data.db", "work/imported.js"];
  for (const file of [...files, "work/server.js"]) await program(file);
  await approve();
  for (const file of files) await program(file, "#!/bin/sh\necho changed\n");
  expect(await status()).toBe("admitted");
});

test("a program that appears only after the approval asks again", async () => {
  await using scenes = await scene({ command: "tool" });
  const { program, approve, status } = scenes;
  await approve();
  expect(await status()).toBe("admitted");
  await program("usr/bin/tool");
  expect(await status()).toBe(another("usr/bin/tool"));
});

test("two approved versions of a program stay approved side by side, until the entry changes", async () => {
  await using scenes = await scene({ command: "tool" });
  const { here, program, link, approve, status } = scenes;
  for (const version of ["v1", "v2"]) await program(`opt/${version}/tool`);
  for (const version of ["v1", "v2"]) {
    await link("usr/bin/tool", `opt/${version}/tool`);
    await approve();
  }
  await link("usr/bin/tool", "opt/v1/tool");
  expect(await status()).toBe("admitted");
  await here.write(workspaceFile, { mcpServers: { ours: { command: "tool", args: ["more"] } } });
  await approve();
  await link("usr/bin/tool", "opt/v2/tool");
  expect(await status()).toBe(another("opt/v2/tool"));
});

test("an approval from before programs were covered asks once more", async () => {
  await using scenes = await scene({ command: "tool" });
  const { here, program, approve, status } = scenes;
  await program("usr/bin/tool");
  await approve();
  const { fingerprint = "" } = (await readApprovals(here.state)).get(here.root)?.get("ours") ?? {};
  const old = { fingerprint, approvedAt: "2026-01-01T00:00:00.000Z" };
  await here.write("home/.fairlead/approvals.json", {
    version: 2,
    workspaces: { [here.root]: { ours: old } },
    tools: [],
  });
  expect(await status()).toBe(
    "awaiting_approval: was approved before approvals covered programs; it would run: usr/bin/tool",
  );
});

test("a file that changes after the settings were read is noticed before the start", async () => {
  await using scenes = await scene({ command: "./tool" });
  const { here, program, approve, load } = scenes;
  await program("work/tool");
  await approve();
  const configuration = await load();
  const definition = configuration.servers[0]?.server.definition;
  if (definition === undefined) throw new Error("no definition");
  const place = programPlace(configuration);
  await checkApprovedPrograms(definition, place);
  await program("work/tool", "#!/bin/sh\necho changed\n");
  await expect(checkApprovedPrograms(definition, place)).rejects.toMatchObject({
    code: "awaiting_approval",
    message: `"ours" would run a file that has changed since you approved it: ${here.root}/tool`,
    next: "fairlead trust add",
  });
});

/** Reads the files that `node` would run with these arguments and variables, in the workspace `work` of a folder. */
async function programs() {
  const folder = await temporaryFolder();
  const path = await realpath(folder.path);
  await mkdir(join(path, "work"));
  return {
    path,
    write: (file: string, text = "") => folder.write(file, text),
    async read(args: readonly string[], env: Readonly<Record<string, string>> = {}, command = "node") {
      const transport = {
        kind: "stdio",
        command,
        args,
        env: new Map(Object.entries({ PATH: "/nowhere", ...env })),
      } as const;
      const environment = { env: {}, platform: process.platform, home: path };
      const [first, ...files] = await readPrograms(transport, { environment, root: join(path, "work"), trusted: true });
      expect(first).toEqual({ file: command });
      return files.map(
        ({ file, digest }) => `${file.slice(path.length + 1)}${digest === undefined ? "" : " with digest"}`,
      );
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("of the files in arguments, those are covered that are in the workspace or that a link connects with it", async () => {
  await using scene = await programs();
  const { path } = scene;
  for (const file of ["work/server.js", "work/hook.js", "opt/out.js", "opt/other.js", "work/folder/data"])
    await scene.write(file);
  await symlink(join(path, "opt/out.js"), join(path, "work/linked.js"));
  await symlink(join(path, "work/server.js"), join(path, "opt/in.js"));
  const args = ["./linked.js", join(path, "opt/other.js"), join(path, "opt/in.js"), "missing.js", "./folder"];
  expect(await scene.read(args)).toEqual(["opt/out.js", "work/server.js with digest"]);
  const url = pathToFileURL(join(path, "work/hook.js")).href;
  for (const word of [url, `--import=${url}`, "-r./hook.js"])
    expect(await scene.read([word, "file://elsewhere.example/x.js"])).toEqual(["work/hook.js with digest"]);
});

test("arguments without a path name no file, and a colon makes no URL of a file", async () => {
  await using scene = await programs();
  for (const file of ["work/index.js", "work/hook:1.js"]) await scene.write(file);
  expect(await scene.read(["", "--flag=", "-r"])).toEqual([]);
  expect(await scene.read(["hook:1.js"])).toEqual(["work/hook:1.js with digest"]);
});

test.each([
  ["a file", '{ "main": "start.cjs" }', ["package.json", "start.cjs", "index.js"]],
  ["a file without its ending", '{ "main": "start" }', ["package.json", "start.cjs", "index.js"]],
  ["a folder", '{ "main": "./lib" }', ["package.json", "index.js", "lib/index.mjs"]],
  ["nothing", "{}", ["index.js"]],
  ["no text", '{ "main": 7 }', ["index.js"]],
  ["a file, in something that is no JSON", "{ main: start.cjs }", ["index.js"]],
  ["nothing, because it is null", "null", ["index.js"]],
])("a package whose package.json names %s as its main file", async (_, manifest, files) => {
  await using scene = await programs();
  for (const file of ["start.cjs", "index.js", "lib/index.mjs"]) await scene.write(`work/package/${file}`);
  await scene.write("work/package/package.json", manifest);
  expect(await scene.read(["./package"])).toEqual(files.map((file) => `work/package/${file} with digest`));
});

test("an interpreter may add an ending to the name of a script, or run a file of a folder", async () => {
  await using scene = await programs();
  const endings = [".js", ".mjs", ".cjs", ".json", ".node", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".py"];
  const files = [
    ...endings.map((ending) => `work/app${ending}`),
    ...endings.map((ending) => `work/app/index${ending}`),
    "work/app/__main__.py",
  ];
  for (const file of files) await scene.write(file);
  expect(await scene.read(["./app"])).toEqual(files.map((file) => `${file} with digest`));
});

test.each(["NODE_OPTIONS", "BUN_OPTIONS", "RUBYOPT", "PERL5OPT", "BASH_ENV", "ENV", "PYTHONSTARTUP"])(
  "a file that %s names is covered, whatever the program is",
  async (name) => {
    await using scene = await programs();
    await scene.write("work/hook.js");
    expect(await scene.read([], { [name]: "./hook.js" }, "tool")).toEqual(["work/hook.js with digest"]);
    expect(await scene.read(["./hook.js"], { OTHER: "./hook.js" }, "tool")).toEqual([]);
  },
);

test.each([
  ["#!/bin/sh\n", ["/bin/sh"]],
  ["#! /usr/bin/env  node\n", ["/usr/bin/env", "node"]],
  ["#!/usr/bin/env -S node --flag\n", ["/usr/bin/env", "node"]],
  ["#!/usr/bin/python3 -u\n", ["/usr/bin/python3"]],
  ["echo #!/bin/sh\n", []],
  ["", []],
])("the first line of a script names its interpreter: %j", async (text, words) => {
  await using folder = await temporaryFolder();
  const file = await folder.write("script", text);
  expect(await firstLine(file)).toEqual(words);
  expect(await firstLine(`${file}-missing`)).toEqual([]);
});

test.each([
  ["#!/usr/bin/env tool\n", ["work/bin/tool"]],
  ["#!/usr/bin/env missing\n", ["missing"]],
  ["#!/usr/bin/env\n", []],
  ["#!/bin/sh tool\n", []],
  ["#!./bin/tool\n", ["work/bin/tool"]],
  ["#!./bin/missing tool\n", []],
])("a script that begins with %j runs these files too: %j", async (text, others) => {
  await using folder = await temporaryFolder();
  const path = await realpath(folder.path);
  for (const [file, content] of Object.entries({ script: text, "bin/tool": "" }))
    await chmod(await folder.write(`work/${file}`, content), 0o755);
  const root = join(path, "work");
  const transport = { kind: "stdio", command: "./script", args: [], env: new Map() } as const;
  const environment = { env: { PATH: join(root, "bin") }, platform: process.platform, home: path };
  const files = await readPrograms(transport, { environment, root, trusted: true });
  expect(files[0]).toEqual({ file: join(root, "script"), digest: createHash("sha256").update(text).digest("hex") });
  expect(files.slice(1).map(({ file }) => file.replace(`${path}/`, ""))).toEqual(others);
});

test("the search path of the entry counts before that of the environment, and without both the system's", async () => {
  await using folder = await temporaryFolder();
  const path = await realpath(folder.path);
  for (const file of ["one/sh", "two/sh"]) await chmod(await folder.write(file, ""), 0o755);
  const read = async (own: Record<string, string>, env: Record<string, string>) => {
    const transport = { kind: "stdio", command: "sh", args: [], env: new Map(Object.entries(own)) } as const;
    const environment = { env, platform: process.platform, home: path };
    return (await readPrograms(transport, { environment, root: join(path, "work"), trusted: true }))[0]?.file;
  };
  const [one, two] = [{ PATH: join(path, "one") }, { PATH: join(path, "two") }];
  expect([await read(one, two), await read({}, two), await read({}, {})]).toEqual([
    join(path, "one/sh"),
    join(path, "two/sh"),
    await realpath("/bin/sh"),
  ]);
});

test("only a program of a trusted workspace has files that an approval covers", async () => {
  const entry = { command: "./tool" };
  await using here = await trustedMachine({ mcpServers: { ours: entry, address: { url: "https://a.example" } } });
  await here.write("home/.gemini/settings.json", { mcpServers: { mine: entry } });
  const { servers, ...configuration } = await here.load();
  const place = programPlace(configuration);
  expect(servers.map(({ server }) => [server.name, server.definition?.programs])).toEqual([
    ["mine", undefined],
    ["ours", [{ file: join(here.root, "tool") }]],
    ["address", undefined],
  ]);
  for (const { server } of servers) expect(await withPrograms(server, { ...place, trusted: false })).toBe(server);
});

test.each([
  [[], []],
  [
    ["/a 1", "/b"],
    ["/a 1", "/b"],
  ],
])("the same files: %j", (one, other) => {
  expect(isSamePrograms(one.map(toFile), other.map(toFile))).toBe(true);
});

test.each([
  [["/a 1"], []],
  [["/a 1"], ["/a 1", "/b 1"]],
  [
    ["/a 1", "/b 1"],
    ["/a 1", "/c 1"],
  ],
  [
    ["/a 1", "/b 1"],
    ["/a 1", "/b 2"],
  ],
  [
    ["/a 1", "/b 1"],
    ["/c 1", "/b 1"],
  ],
  [
    ["/a 1", "/b 1"],
    ["/b 1", "/a 1"],
  ],
  [["/a 1"], ["/a"]],
])("not the same files: %j and %j", (one, other) => {
  expect([
    isSamePrograms(one.map(toFile), other.map(toFile)),
    isSamePrograms(other.map(toFile), one.map(toFile)),
  ]).toEqual([false, false]);
});

function toFile(text: string): { readonly file: string; readonly digest?: string } {
  const [file = "", digest] = text.split(" ");
  return { file, ...(digest !== undefined && { digest }) };
}
