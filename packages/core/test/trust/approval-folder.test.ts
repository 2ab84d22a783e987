import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addAdHocServer } from "../../src/trust/ad-hoc.ts";
import { setFolderTrust } from "../../src/trust/trusted-folders.ts";
import { type Machine, machine, rulesFile, userFile, workspaceFile } from "../support/machine.ts";

const path = "/usr/local/bin:/usr/bin";

/** The folder that approvals of the entry are bound to: `root`, `home`, or undefined if they count everywhere. */
async function boundTo(entry: object, env: Readonly<Record<string, string>> = {}, trusted = true) {
  await using here = await machine({ [userFile]: { mcpServers: { mine: entry } }, "work/.env": "OURS=ours\n" });
  if (trusted) await setFolderTrust(join(here.path, rulesFile), here.root, "TRUST_FOLDER");
  const { servers } = await here.load({}, { PATH: path, ...env });
  return nameOf(servers[0]?.server.definition?.approvalFolder, here);
}

function nameOf(folder: string | undefined, { root, path: machinePath }: Machine): string | undefined {
  if (folder === root) return "root";
  return folder === join(machinePath, "home") ? "home" : folder;
}

describe("in a trusted folder, an entry of the user's settings is bound to the folder if", () => {
  test.each<[why: string, entry: object, env?: Readonly<Record<string, string>>]>([
    ["its script is relative", { command: "node", args: ["server.mjs"] }],
    ["its script is relative and the interpreter absolute", { command: "/usr/bin/node", args: ["./server.mjs"] }],
    ["an option precedes its script", { command: "node", args: ["--import", "./hook.mjs", "/opt/server.mjs"] }],
    ["an option has a relative value", { command: "node", args: ["/opt/server.mjs", "--plugin=hook.mjs"] }],
    ["an option has an attached value", { command: "node", args: ["/opt/server.mjs", "-rhook"] }],
    ["a later argument is a plain word", { command: "node", args: ["/opt/npx-cli.js", "server"] }],
    ["it has an interpreter and no script", { command: "python3" }],
    ["it runs a module", { command: "python3", args: ["-m", "server"] }],
    ["it runs a package, which the folder may have installed", { command: "npx", args: ["-y", "@acme/server@1.0.0"] }],
    ["it runs a package with uvx", { command: "uvx", args: ["acme-server"] }],
    ["its program reads a file of the folder", { command: "/usr/bin/make", args: ["--silent"] }],
    ["its interpreter reads settings of the folder", { command: "bun", args: ["/opt/server.ts"] }],
    ["it is a shell line", { command: "sh", args: ["-c", "node server.mjs"] }],
    ["it is a sub-command", { command: "docker", args: ["compose", "up"] }],
    ["an argument mentions the folder", { command: "node", args: ["$PWD/server.mjs"] }],
    ["its own folder mentions the folder", { command: "node", args: ["server.mjs"], cwd: "$PWD" }],
    [
      "a variable of the environment chooses the script",
      { command: "node", args: ["$TOOLS/x.mjs"] },
      { TOOLS: "/opt" },
    ],
    ["the folder's .env file sets a variable", { command: "node", args: ["/opt/x.mjs"], env: { A: "$OURS" } }],
    ["the folder's .env file sets a header", { httpUrl: "https://mcp.example/mcp", headers: { a: "$OURS" } }],
    ["its environment preloads code", { command: "node", args: ["/opt/x.mjs"], env: { NODE_OPTIONS: "-r ./x.js" } }],
    ["its environment has a relative search path", { command: "acme", env: { PATH: "node_modules/.bin:/usr/bin" } }],
    ["its script is found through the process", { command: "node", args: ["/proc/self/cwd/server.mjs"] }],
    ["its program is found through the process", { command: "/proc/self/cwd/server" }],
    ["its own folder is that of the process", { command: "node", args: ["server.mjs"], cwd: "//proc/self/cwd" }],
    ["its script is its input", { command: "node", args: ["/dev/stdin"] }],
    ["another program starts it", { command: "nohup", args: ["/opt/server"] }],
    ["the search path leads through the process", { command: "acme" }, { PATH: `/proc/self/cwd/bin:${path}` }],
    ["the search path is relative", { command: "acme" }, { PATH: `./bin:${path}` }],
    ["the search path has an empty entry", { command: "acme" }, { PATH: `${path}:` }],
  ])("%s", async (_why, entry, env) => {
    expect(await boundTo(entry, env)).toBe("root");
  });

  test("the search path leads into the folder", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { mine: { command: "acme" } } } });
    await setFolderTrust(join(here.path, rulesFile), here.root, "TRUST_FOLDER");
    await mkdir(join(here.root, "bin"));
    const { servers } = await here.load({}, { PATH: `${join(here.root, "bin")}:${path}` });
    expect(servers[0]?.server.definition?.approvalFolder).toBe(here.root);
    await symlink(join(here.root, "bin"), join(here.path, "link"));
    const linked = await here.load({}, { PATH: `${join(here.path, "link")}:${path}` });
    expect(linked.servers[0]?.server.definition?.approvalFolder).toBe(here.root);
  });
});

describe("an entry of the user's settings counts in every folder if", () => {
  test.each<[why: string, entry: object, env?: Readonly<Record<string, string>>]>([
    ["its script is absolute", { command: "node", args: ["/opt/server.mjs", "--verbose", "--port=3000", "-q", "8"] }],
    ["its script is in the home folder", { command: "node", args: ["~/server.mjs"] }],
    ["HOME stands before its script", { command: "node", args: ["$HOME/server.mjs"] }, { HOME: "/home/ada" }],
    ["its program is absolute", { command: "/opt/acme", args: ["--root", "/srv"] }],
    ["its program is in the search path", { command: "acme-server" }],
    ["its own folder is absolute", { command: "npx", args: ["-y", "acme"], cwd: "/opt" }],
    ["its own folder is in the home folder", { command: "node", args: ["server.mjs"], cwd: "tools" }],
    ["it has an address", { httpUrl: "https://mcp.example/mcp" }],
  ])("%s", async (_why, entry, env) => {
    expect(await boundTo(entry, env)).toBeUndefined();
  });
});

test("in a folder that is not trusted, a relative entry of the user's settings runs in the home folder and is bound to it", async () => {
  const entry = { command: "node", args: ["server.mjs"] };
  expect(await boundTo(entry, {}, false)).toBe("home");
  expect(await boundTo({ command: "acme" }, { PATH: `bin:${path}` }, false)).toBeUndefined();
});

test("an entry of a workspace is bound to the workspace, whatever it runs", async () => {
  await using here = await machine({
    [workspaceFile]: { mcpServers: { ours: { httpUrl: "https://mcp.example/mcp" } } },
  });
  await setFolderTrust(join(here.path, rulesFile), here.root, "TRUST_FOLDER");
  const { servers } = await here.load();
  expect(servers[0]?.server.definition?.approvalFolder).toBe(here.root);
});

test("a server from the command line has the folder in its entry, and an entry that mentions the folder is bound to it", async () => {
  await using here = await machine();
  await setFolderTrust(join(here.path, rulesFile), here.root, "TRUST_FOLDER");
  const configuration = await here.load({}, { PATH: path });
  const typed = { name: "typed", entry: { command: "node", args: ["server.mjs"] } };
  const { added } = await addAdHocServer(configuration, typed);
  expect(added.server.definition).toMatchObject({ transport: { cwd: here.root } });
  const mentioned = { name: "mentioned", entry: { command: "node", args: ["$PWD/server.mjs"], cwd: "/opt" } };
  const { added: bound } = await addAdHocServer(configuration, mentioned);
  expect(bound.server.definition?.approvalFolder).toBe(here.root);
});
