import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

/** One run for each call: after a call that is denied, the next line would not run. */
async function outcomes(here: Machine, ...options: readonly string[]): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const call of ["demo.greet name=Ada", "demo.count to=1"]) {
    const { stdout } = await here.run("-p", call, "--model", "manual", "--json", ...options);
    found.push(...(JSON.parse(stdout) as { calls: { status: string }[] }).calls.map(({ status }) => status));
  }
  return found;
}

describe("--allow for one run", () => {
  test.each([
    [
      ["--allow", "demo.greet"],
      ["ok", "denied"],
    ],
    [
      ["--allow", "demo.gr*"],
      ["ok", "denied"],
    ],
    [
      ["--allow", "demo.*"],
      ["ok", "ok"],
    ],
    [
      ["--allow", "demo.c?unt"],
      ["denied", "ok"],
    ],
    [
      ["--allow", "demo"],
      ["ok", "ok"],
    ],
  ])("%j", async (options, expected) => {
    await using here = await machine();
    expect(await outcomes(here, ...options)).toEqual(expected);
    expect(await outcomes(here)).toEqual(["denied", "denied"]);
  });

  test("a rule that denies is stronger than a whole server", async () => {
    await using here = await machine();
    await here.run("policy", "deny", "demo.greet");
    expect(await outcomes(here, "--allow", "demo")).toEqual(["denied", "ok"]);
  });

  test("a tool that is named like a pattern is allowed alone", async () => {
    await using here = await machine({
      "tools.json": JSON.stringify(["*", "other"].map((name) => ({ name, inputSchema: { type: "object" } }))),
    });
    const odd = stdioServer("catalog", join(here.path, "tools.json"));
    await here.write(userFile, { mcpServers: { odd } });
    await here.run("tools", "odd");
    const { stdout } = await here.run("-p", "odd.other", "--model", "manual", "--json", "--allow", "odd.*");
    expect(JSON.parse(stdout)).toMatchObject({ calls: [{ status: "denied" }] });
  });
});

describe("the server's name in --allow is exact", () => {
  test.each(["*", "d*", "*.*", "*.greet", "?emo.g*", "d?mo.count"])("%s is a usage error", async (word) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("-p", "demo.greet", "--model", "manual", "--allow", word);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`--allow ${word}: the server's name must be exact, without * and ?`);
    expect(stderr).toContain("--allow 'SERVER.*'");
  });

  test.each([
    ["d*", true],
    ["d*.*", true],
    ["d*.greet", true],
    ["d*.c*", false],
  ])("%s of a server that is named d* does not allow the server demo", async (word, isAllowed) => {
    await using here = await machine({
      "tools.json": JSON.stringify([{ name: "greet", inputSchema: { type: "object" } }]),
    });
    await here.write(userFile, { mcpServers: { "d*": stdioServer("catalog", join(here.path, "tools.json")) } });
    const isDenied = async (call: string): Promise<boolean> => {
      const { stdout } = await here.run("-p", call, "--model", "manual", "--json", "--allow", word);
      const [{ status } = { status: "none" }] = (JSON.parse(stdout) as { calls: { status: string }[] }).calls;
      expect(["ok", "error", "denied"]).toContain(status);
      return status === "denied";
    };
    expect(await isDenied("d*.greet")).toBe(!isAllowed);
    expect(await isDenied("demo.greet name=Ada")).toBe(true);
  });

  test("an unknown server with a pattern of tools is reported", async () => {
    await using here = await machine();
    const { stderr } = await here.run("-p", "demo.greet", "--model", "manual", "--allow", "dem.g*");
    expect(stderr).toContain('there is no server "dem"; did you mean "demo"?');
  });
});

describe("a typing mistake in --allow is reported", () => {
  test.each([
    ["demo.gret", '--allow: "demo" has no tool "gret"; did you mean "greet"?'],
    ["demo.x*", '--allow: no tool of "demo" matches "x*"'],
  ])("%s, also if its server had no cached catalog before the run", async (word, note) => {
    await using here = await machine();
    const { stderr } = await here.run("-p", "demo.greet name=Ada", "--model", "manual", "--allow", word);
    expect(stderr.split(note)).toHaveLength(2);
  });
});
