import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

/** A server that works, and one that fails and counts its starts in a file. */
async function village(): Promise<Machine> {
  const here = await machine({ starts: "" });
  const dead = { command: "sh", args: ["-c", `echo start >> '${join(here.path, "starts")}'; exit 3`] };
  await here.write(userFile, { mcpServers: { w: stdioServer("workshop"), dead } });
  return here;
}

/** A program may be started more than once for one attempt, because another protocol is tried. */
async function tries(
  here: Machine,
  ...argv: readonly string[]
): Promise<{ readonly tried: boolean; readonly stderr: string }> {
  const before = await here.read("starts");
  const { stderr } = await here.run(...argv);
  return { tried: (await here.read("starts")) !== before, stderr };
}

const skipped =
  /^"dead" exited with code 3 .*\(tried \d+ s ago, again in \d+ s\)\n {2}next: to try the server now: fairlead mcp test dead$/m;

test("a server that failed is not tried again by the next runs that do not name it, and they say so", async () => {
  await using here = await village();
  expect((await tries(here, "tools")).tried).toBe(true);
  for (const list of ["tools", "prompts", "resources"]) {
    const { tried, stderr } = await tries(here, list);
    expect({ list, tried }).toEqual({ list, tried: false });
    expect(stderr).toMatch(skipped);
  }
  expect(await tries(here, "prompt", "nothing")).toMatchObject({
    tried: false,
    stderr: expect.stringMatching(skipped),
  });
  const manual = ["--model", "manual", "--approval-mode", "yolo"];
  const { tried, stderr } = await tries(here, "-p", "nothing text=hi", ...manual);
  expect(tried).toBe(false);
  expect(stderr).toMatch(/^dead not available: .*again in \d+ s\)/m);
});

test.each([
  [["tools", "dead"]],
  [["tools", "--refresh"]],
  [["call", "dead.x"]],
  [["mcp", "list"]],
  [["mcp", "test", "dead"]],
  [["-p", "dead.x", "--model", "manual"]],
])("%j tries it at once", async (argv) => {
  await using here = await village();
  await here.run("tools");
  expect((await tries(here, ...argv)).tried).toBe(true);
});

test("mcp list says for how long it is skipped; the time grows with each failure", async () => {
  await using here = await village();
  expect((await here.run("mcp", "list", "-v")).stdout).toMatch(
    /^dead .*\n(?: {2}.*\n)* {2}failed 1 time in a row: commands that do not name this server skip it for (?:[12]?\d|30) s\n/m,
  );
  const { stdout } = await here.run("mcp", "list", "--json");
  const [, dead] = JSON.parse(stdout).servers as { skipped: { failures: number; failedAt: string; until: string } }[];
  expect(dead?.skipped.failures).toBe(2);
  expect(Date.parse(dead?.skipped.until ?? "") - Date.parse(dead?.skipped.failedAt ?? "")).toBe(60_000);
  expect((await here.run("mcp", "list", "--cached", "-v")).stdout).toMatch(
    /^dead .*\n(?: {2}.*\n)* {2}why: "dead" exited with code 3 .* ago\)\n {2}failed 2 times in a row: /m,
  );
});

test("after it has worked, or with another entry, nothing is skipped", async () => {
  await using here = await village();
  await here.run("tools");
  const other = { command: "sh", args: ["-c", `echo start >> '${join(here.path, "starts")}'; exit 4`] };
  await here.write(userFile, { mcpServers: { dead: other } });
  expect((await tries(here, "tools")).tried).toBe(true);
  await here.write("works.sh", "exit 3");
  const late = { command: "sh", args: [join(here.path, "works.sh")] };
  await here.write(userFile, { mcpServers: { late } });
  await here.run("tools");
  expect((await here.run("tools")).stderr).toMatch(/again in/);
  const { command, args } = stdioServer("well-behaved");
  await here.write("works.sh", `exec ${[command, ...args].map((word) => `'${word}'`).join(" ")}`);
  expect((await here.run("mcp", "test", "late")).code).toBe(0);
  expect(await here.read("home/.fairlead/failed-starts.json")).not.toContain("works.sh");
  expect((await here.run("tools", "--refresh")).stderr).not.toMatch(/again in/);
});
