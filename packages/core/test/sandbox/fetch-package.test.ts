import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  hasBubblewrap,
  type TemporaryFolder,
  temporaryFolder,
  type WebServer,
  webServer,
} from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { HostError } from "../../src/index.ts";
import { openBoxed } from "./open-box.ts";

const canBox = hasBubblewrap("packages that are fetched for a sandbox");
const run = promisify(execFile);

/** A server whose tool `run` says what it sees. Its package has an install script, and no library. */
const program = `#!/usr/bin/env node
import { createInterface } from "node:readline";
import fs from "node:fs";
const version = JSON.parse(fs.readFileSync(new URL("./package.json", import.meta.url))).version;
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "p", version } }),
  "tools/list": () => ({ tools: [{ name: "run", inputSchema: { type: "object" } }] }),
  "tools/call": async ({ arguments: { code } }) => {
    const run = Object.getPrototypeOf(async () => {}).constructor("fs", "dirname", code);
    const text = await run(fs, import.meta.dirname ?? new URL(".", import.meta.url).pathname).catch((error) => "failed: " + error.code);
    return { content: [{ type: "text", text: String(text) }] };
  },
};
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method] && (await answers[method](params));
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
});
`;

interface Registry extends AsyncDisposable {
  readonly web: WebServer;
  readonly url: string;
  publish(version: string, more?: object): Promise<void>;
}

/** A registry with one package, `boxed-server`, made by npm pack. */
async function registry(folder: TemporaryFolder): Promise<Registry> {
  const versions = new Map<string, { readonly manifest: object; readonly tarball: Buffer }>();
  const web = await webServer(({ path }, response) => {
    const [, wanted] = /^\/tarballs\/(.+)\.tgz$/.exec(path) ?? [];
    if (wanted !== undefined) return void response.end(versions.get(wanted)?.tarball);
    if (path !== "/boxed-server") return void response.writeHead(404).end("{}");
    const all = Object.fromEntries([...versions].map(([version, { manifest }]) => [version, manifest]));
    const latest = [...versions.keys()].at(-1);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name: "boxed-server", "dist-tags": { latest }, versions: all }));
  });
  return {
    web,
    url: web.origin,
    async publish(version, more = {}) {
      const at = `package-${version}`;
      const manifest = {
        name: "boxed-server",
        version,
        type: "module",
        bin: "./server.mjs",
        scripts: { postinstall: "touch ran" },
        ...more,
      };
      await folder.write(`${at}/package.json`, manifest);
      await chmod(await folder.write(`${at}/server.mjs`, program), 0o755);
      await run("npm", ["pack", "--ignore-scripts", "--silent"], {
        cwd: join(folder.path, at),
        env: { PATH: process.env["PATH"], HOME: folder.path },
      });
      const tarball = await readFile(join(folder.path, at, `boxed-server-${version}.tgz`));
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const dist = { tarball: `${web.origin}/tarballs/${version}.tgz`, integrity };
      versions.set(version, { manifest: { ...manifest, dist }, tarball });
    },
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

const entry = (url: string, name = "boxed-server") => ({
  command: "npx",
  args: ["--registry", url, "-y", name],
  env: {},
});

async function failureOf(work: Promise<unknown>): Promise<HostError> {
  const outcome = await work.catch((error: unknown) => error);
  if (outcome instanceof HostError) return outcome;
  throw new Error(`did not fail with a HostError: ${String(outcome)}`);
}

describe.runIf(canBox)("the package of npx in a sandbox", () => {
  test("is fetched once, without its install script, and the server then runs offline and cannot change it", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await packages.publish("1.0.0");
    await using boxed = await openBoxed({ entry: entry(packages.url) });
    expect(await boxed.run(`return fs.readdirSync(dirname).sort().join()`)).toBe("package.json,server.mjs");
    const requests = packages.web.seen.length;
    expect(packages.web.seen.map(({ path }) => path)).toContain("/tarballs/1.0.0.tgz");
    expect(await boxed.run(`fs.writeFileSync(dirname + "/planted", "x"); return "written"`)).toBe("failed: EROFS");
    expect(await boxed.run(`return (await fetch("${packages.url}/boxed-server")).status`)).toMatch(/^failed/);
    await boxed.host.stop(["s"]);
    expect(await boxed.run(`return process.env.HOME`)).toBe("/home/sandbox");
    expect(packages.web.seen.length).toBe(requests);
  });

  test("runs nothing of the entry outside of a sandbox while it looks for the registry", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await packages.publish("1.0.0");
    const planted = join(folder.path, "planted");
    const script = await folder.write(
      "planted.cjs",
      `require("node:fs").writeFileSync(${JSON.stringify(planted)}, "")`,
    );
    await chmod(await folder.write("bin/npm", `#!/bin/sh\n: > "${planted}"\n`), 0o755);
    const path = `${join(folder.path, "bin")}:${process.env["PATH"]}`;
    for (const env of [{ NODE_OPTIONS: `--require ${script}` }, { PATH: path }]) {
      await using boxed = await openBoxed({
        prepare: (home) => writeFile(join(home, ".npmrc"), `registry=${packages.url}\n`),
        entry: { command: "npx", args: ["-y", "boxed-server"], env },
      });
      await failureOf(boxed.run(""));
      expect(await readdir(folder.path)).not.toContain("planted");
    }
  });

  test("comes from the registry of the user's npm configuration", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await packages.publish("1.0.0");
    await using boxed = await openBoxed({
      prepare: (home) => writeFile(join(home, ".npmrc"), `registry=${packages.url}\n`),
      entry: { command: "npx", args: ["-y", "boxed-server"], env: {} },
    });
    expect(await boxed.run("return process.env.HOME")).toBe("/home/sandbox");
  });

  test("is there also if all of home is listed, while the rest of Fairlead's folder is hidden", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await packages.publish("1.0.0");
    await using boxed = await openBoxed({ entry: entry(packages.url), sandbox: { write: ["~"] } });
    const state = JSON.stringify(join(boxed.home, ".fairlead"));
    expect(await boxed.run(`return fs.readdirSync(${state}).join()`)).toBe("sandboxes");
    expect(await boxed.run(`fs.writeFileSync(${state} + "/planted", "x"); return "written"`)).toBe("failed: EROFS");
    expect(await boxed.run(`fs.writeFileSync(dirname + "/planted", "x"); return "written"`)).toBe("failed: EROFS");
  });

  test("stays when a newer version appears, and another version in the entry is fetched", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await packages.publish("1.0.0");
    await using boxed = await openBoxed({ entry: entry(packages.url) });
    const version = `return JSON.parse(fs.readFileSync(dirname + "/package.json")).version`;
    expect(await boxed.run(version)).toBe("1.0.0");
    await packages.publish("2.0.0");
    await boxed.host.stop(["s"]);
    expect(await boxed.run(version)).toBe("1.0.0");
    const file = join(boxed.home, ".gemini/settings.json");
    const settings = JSON.parse(await readFile(file, "utf8"));
    settings.mcpServers.s = entry(packages.url, "boxed-server@2.0.0");
    await writeFile(file, JSON.stringify(settings));
    await boxed.host.reload();
    expect(await boxed.run(version)).toBe("2.0.0");
  });

  test("that cannot be fetched stops the server with the registry's name, and leaves nothing", async () => {
    await using folder = await temporaryFolder();
    const packages = await registry(folder);
    await packages[Symbol.asyncDispose]();
    await using boxed = await openBoxed({ entry: entry(packages.url) });
    const error = await failureOf(boxed.run("return 1"));
    const host = new URL(packages.url).host;
    expect([error.code, error.message, error.next]).toEqual([
      "unreachable",
      expect.stringContaining(`"s" was not started: boxed-server could not be fetched from ${host}: `),
      "fairlead mcp sandbox s --fetch",
    ]);
    const [own] = (await readdir(join(boxed.home, ".fairlead/sandboxes"))).filter((name) => name.startsWith("s-"));
    expect(await readdir(join(boxed.home, ".fairlead/sandboxes", own ?? "", "packages"))).toEqual([]);
  });

  test("reaches no host but its registry: a library elsewhere is refused, and the error names the host", async () => {
    await using folder = await temporaryFolder();
    await using packages = await registry(folder);
    await using elsewhere = await webServer((_, response) => response.end("x"));
    await packages.publish("1.0.0", { dependencies: { other: "http://elsewhere.example/other.tgz" } });
    await using boxed = await openBoxed({ entry: entry(packages.url) });
    const error = await failureOf(boxed.run("return 1"));
    expect(error.message).toMatch(/it wanted elsewhere\.example:80, which is not its registry/);
    expect(elsewhere.seen).toEqual([]);
  });

  test("of a repository is not fetched, and the error says what to do", async () => {
    await using boxed = await openBoxed({ entry: { command: "npx", args: ["-y", "github:user/repository"], env: {} } });
    const error = await failureOf(boxed.run("return 1"));
    expect([error.code, error.message, error.next]).toEqual([
      "settings_invalid",
      '"s" cannot run in a sandbox: github:user/repository is not a package of a registry',
      expect.stringMatching(/Install the package and name its program/),
    ]);
  });
});

test.runIf(canBox)("uvx installs with uv into the folder of the server, and the server runs from there", async () => {
  await using folder = await temporaryFolder();
  // A stand-in for uv, because this machine may have none: it makes the program that uv would make.
  const bin = join(folder.path, "bin");
  await mkdir(bin);
  await folder.write("program.mjs", program);
  const script = `#!/bin/sh
mkdir -p "$UV_TOOL_BIN_DIR" && echo "$@" > "$UV_TOOL_BIN_DIR/../asked"
{ echo '#!/bin/sh'; echo 'exec node "$(dirname "$0")/server.mjs"'; } > "$UV_TOOL_BIN_DIR/tool"
echo '{"version": "1"}' > "$UV_TOOL_BIN_DIR/package.json"
cat > "$UV_TOOL_BIN_DIR/server.mjs" <<'PROGRAM'
${program}PROGRAM
chmod +x "$UV_TOOL_BIN_DIR/tool"
`;
  for (const name of ["uv", "uvx"]) await chmod(await folder.write(`bin/${name}`, script), 0o755);
  await using boxed = await openBoxed({
    entry: { command: "uvx", args: ["--with", "other", "tool@1.2"], env: {} },
    env: { PATH: `${bin}:${process.env["PATH"]}` },
  });
  const asked = `return fs.readFileSync(dirname + "/../asked", "utf8").trim()`;
  expect(await boxed.run(asked)).toBe("tool install --no-config --with other -- tool==1.2");
});
