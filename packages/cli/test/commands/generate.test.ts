import { stat } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";

describe("fairlead generate", () => {
  test("prints to stdout what it would write", async () => {
    await using here = await machine();
    const { code, stdout } = await here.run("generate", "ts", "demo");
    expect(code).toBe(0);
    expect(await here.run("generate", "ts", "demo", "-o", "demo.ts")).toEqual({
      code: 0,
      stdout: "",
      stderr: "demo.ts: 6 tools, written\n",
    });
    expect(await here.read("project/demo.ts")).toBe(stdout);
    const { stdout: json } = await here.run("generate", "ts", "demo", "--json");
    expect(JSON.parse(json)).toEqual({ schemaVersion: 1, servers: ["demo"], tools: 6, text: stdout });
  });

  test("replaces a file that it has written, and no other", async () => {
    await using here = await machine({ "project/mine.ts": "mine" });
    const refused = await here.run("generate", "ts", "demo", "-o", "mine.ts");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("was not written by fairlead generate") });
    expect(await here.read("project/mine.ts")).toBe("mine");
    await here.run("generate", "cli", "demo", "-o", "demo.mjs");
    const before = await here.read("project/demo.mjs");
    await here.write("project/demo.mjs", before.replace("greet", "changed"));
    const { stdout } = await here.run("generate", "cli", "demo", "-o", "demo.mjs", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ file: "demo.mjs", changed: true });
    expect(await here.read("project/demo.mjs")).toBe(before);
    expect((await stat(join(here.project, "demo.mjs"))).mode & 0o111).not.toBe(0);
  });

  test("writes one module for several servers, without tools that the settings leave out", async () => {
    await using here = await machine();
    const tools = ["keep", "drop"].map((name) => ({ name, inputSchema: { type: "object", properties: { a: {} } } }));
    await here.write("tools.json", JSON.stringify(tools));
    const entry = stdioServer("catalog", join(here.path, "tools.json"));
    await here.write(userFile, { mcpServers: { one: entry, two: { ...entry, excludeTools: ["drop"] } } });
    const { stdout } = await here.run("generate", "ts", "one", "two");
    const declared = [...stdout.matchAll(/^export (?:interface|function) (\w+)/gm)].map(([, name]) => name);
    expect(declared).toEqual([
      "One",
      "createOne",
      "Two",
      "createTwo",
      "OneDropArguments",
      "OneKeepArguments",
      "TwoKeepArguments",
    ]);
  });

  test("uses the catalog cache unless it is told to connect", async () => {
    await using here = await machine();
    const list = (name: string) => here.write("tools.json", JSON.stringify([{ name, inputSchema: {} }]));
    await list("before");
    await here.write(userFile, { mcpServers: { one: stdioServer("catalog", join(here.path, "tools.json")) } });
    expect((await here.run("generate", "ts", "one")).stdout).toContain("before(");
    await list("after");
    expect((await here.run("generate", "ts", "one")).stdout).toContain("before(");
    expect((await here.run("generate", "ts", "one", "--refresh")).stdout).toContain("after(");
  });

  test("refuses a server that is unknown or cannot be connected", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { gone: { command: "no-such-program" } } } });
    expect(await here.run("generate", "ts", "dem")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"demo"'),
    });
    expect(await here.run("generate", "cli", "gone")).toMatchObject({ code: 4, stdout: "" });
  });
});
