import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { hasBubblewrap } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../../support/machine.ts";

const canBox = hasBubblewrap("fairlead mcp sandbox --learn");
const packageFile = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json");
const filesystem = join(packageFile, "../dist/index.js");

const sandboxOf = async (here: Machine, name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(here.path, userFile), "utf8")).fairlead?.servers?.[name]?.sandbox;

/** A server whose tool `look` tries what the array says, and whose tool `change` notes that it was called. */
const curious = (wishes: readonly string[]) => `import { createInterface } from "node:readline";
import { readFileSync, writeFileSync } from "node:fs";
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const attempt = async (wish) => {
  try {
    if (wish.startsWith("https:")) await fetch(wish);
    else if (wish.startsWith("write ")) writeFileSync(wish.slice(6), "written");
    else readFileSync(wish);
  } catch (error) { return (error.cause ?? error).message; }
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "curious", version: "1" } } });
  else if (method === "tools/list") send({ id, result: { tools: [
    { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    { name: "change", inputSchema: { type: "object" } },
  ] } });
  else if (method === "tools/call") {
    const texts = params.name === "look" ? (await Promise.all(${JSON.stringify(wishes)}.map(attempt))).filter(Boolean) : ["changed"];
    send({ id, result: { isError: texts.length > 0, content: [{ type: "text", text: texts.join("\\n") }] } });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}`;

async function curiousMachine(wishes: (home: string) => readonly string[]): Promise<Machine> {
  const here = await machine({
    "home/data/table.csv": "a,b",
    "home/.ssh/id_ed25519": "key",
    "home/.fairlead/token": "token",
    "home/out/.keep": "",
  });
  const script = await here.write("home/servers/curious.mjs", curious(wishes(here.home)));
  await here.write(userFile, {
    mcpServers: { s: { command: process.execPath, args: [script] } },
    fairlead: { background: "off", servers: { s: { sandbox: { read: ["~/out"] } } } },
  });
  return here;
}

describe.runIf(canBox)("fairlead mcp sandbox --learn", () => {
  test("finds what an official server needs, and the server works with that", { timeout: 120_000 }, async () => {
    await using here = await machine({ "home/notes/a.md": "a note" });
    await here.write(userFile, {
      mcpServers: { files: { command: process.execPath, args: [filesystem, join(here.home, "notes")] } },
      fairlead: { background: "off", servers: { files: { sandbox: "on" } } },
    });
    const path = `path=${join(here.home, "notes")}`;
    const before = await here.run("call", "files.list_directory", path);
    expect([before.code, before.stderr]).toEqual([
      4,
      expect.stringMatching(/Cannot find package|not accessible|ENOENT/),
    ]);

    const learnt = await here.run("mcp", "sandbox", "files", "--learn", "--yes");
    expect(learnt).toMatchObject({ code: 0, stderr: expect.stringContaining("mcp add --replace --sandbox on") });
    expect(await sandboxOf(here, "files")).toEqual({
      read: [expect.stringMatching(/node_modules$/), "~/notes"],
    });
    expect(await here.run("call", "files.list_directory", path)).toMatchObject({ code: 0, stdout: "[FILE] a.md\n" });
    expect((await here.run("call", "files.list_directory", `path=${here.home}`)).stderr + "").not.toBe("");
    expect(await here.run("mcp", "sandbox", "files", "--learn", "--json")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"written": ?false/),
    });
  });

  test("proposes files and hosts, never those of the user's secrets or of Fairlead, and writes nothing by itself", async () => {
    await using here = await curiousMachine((home) => [
      "https://wanted.example/",
      "https://192.168.1.1/",
      join(home, "data/table.csv"),
      join(home, ".ssh/id_ed25519"),
      join(home, ".fairlead/token"),
      home,
      `write ${join(home, "out/new")}`,
      "/nowhere/at/all",
    ]);
    const { code, stdout } = await here.run("mcp", "sandbox", "s", "--learn", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      calls: [{ tool: "look", outcome: "failed" }],
      refused: {
        read: [join(here.home, "data/table.csv")],
        write: [join(here.home, "out")],
        hosts: ["wanted.example"],
        withheld: expect.arrayContaining([
          { what: join(here.home, ".ssh/id_ed25519"), why: "~/.ssh has secrets" },
          { what: join(here.home, ".fairlead/token"), why: "it belongs to Fairlead" },
          { what: "192.168.1.1:443", why: "it is an address of this machine or of its networks" },
        ]),
      },
      proposal: { read: ["~/data/table.csv"], write: ["~/out"], hosts: ["wanted.example"] },
      written: false,
    });
    expect(await sandboxOf(here, "s")).toEqual({ read: ["~/out"] });
    const shown = await here.run("mcp", "sandbox", "s", "--learn");
    expect(shown.stdout).toContain("+ hosts wanted.example");
    expect(shown.stderr).toMatch(
      /which is not proposed: ~\/\.ssh has secrets[\s\S]*next: fairlead mcp sandbox s --learn --yes/,
    );
    expect(await sandboxOf(here, "s")).toEqual({ read: ["~/out"] });
  });

  test("with a recording, calls no tool that may change something without a yes", async () => {
    await using here = await curiousMachine((home) => [join(home, "data/table.csv")]);
    const line = (message: object) => JSON.stringify({ c: "1", at: 1, from: "client", message });
    const call = (id: number, name: string) =>
      line({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });
    const header = JSON.stringify({
      v: 1,
      kind: "fairlead.recording",
      server: "s",
      recordedAt: "2026-01-01T00:00:00Z",
    });
    const file = await here.write("calls.jsonl", `${[header, call(1, "change"), call(2, "look")].join("\n")}\n`);
    const { stdout } = await here.run("mcp", "sandbox", "s", "--learn", "--json", "--recording", file);
    expect(JSON.parse(stdout).calls).toEqual([
      { tool: "change", outcome: "not allowed" },
      { tool: "look", outcome: "failed" },
    ]);
  });
});
