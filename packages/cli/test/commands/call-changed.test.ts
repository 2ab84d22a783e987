import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const list = (description: string): object[] => [
  { name: "pay", description, inputSchema: { type: "object", properties: { text: { type: "string" } } } },
];

/** A server that was listed, and has changed its tool since. */
async function changedMachine(): Promise<Machine> {
  const here = await machine();
  const server = stdioServer("counted", "", join(here.path, "list.json"));
  await here.write(userFile, { mcpServers: { s: server } });
  await here.write("list.json", list("Pays once."));
  expect(await here.run("mcp", "list")).toMatchObject({ code: 0 });
  await here.write("list.json", list("Pays twice.\u200b"));
  return here;
}

const difference =
  /s\.pay differs from the accepted definition:\n {2}description\n {4}- Pays once\.\n {4}\+ Pays twice\.⟨U\+200B⟩/;

test("without a terminal a call of a changed tool is refused, every time, and the difference is shown", async () => {
  await using here = await changedMachine();
  for (const quiet of [[], ["--quiet"]]) {
    const refused = await here.run("call", "s.pay", "text=x", ...quiet);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toMatch(difference);
    expect(refused.stderr).toContain(
      "fairlead: s.pay changed: its definition differs from the accepted one\n  next: add --yes, or run the command in a terminal and answer yes\n",
    );
  }
});

test("--yes says yes to the change, and it is shown all the same; from then on it is known", async () => {
  await using here = await changedMachine();
  const { code, stdout, stderr } = await here.run("call", "s.pay", "text=x", "--yes");
  expect([code, stdout]).toEqual([0, "x\n"]);
  expect(stderr).toMatch(difference);
  expect(await here.run("call", "s.pay", "text=x")).toEqual({ code: 0, stdout: "x\n", stderr: "" });
});

test("on a terminal the person is shown the difference and asked; Enter means no", async () => {
  await using here = await changedMachine();
  await using terminal = openTerminal(here, "call", "s.pay", "text=x");
  expect(await terminal.until(/Call it with the changed definition\? \[y\/N\]/)).toMatch(difference);
  terminal.type("\r");
  expect(await terminal.exitCode).toBe(6);
  await here.write("list.json", list("Pays three times."));
  await using again = openTerminal(here, "call", "s.pay", "text=thanks");
  await again.until(/Call it with the changed definition/);
  again.type("y\r");
  expect(await again.exitCode).toBe(0);
  expect(again.screen()).toContain("thanks");
});

test("mcp list names what has changed; showing it is no approval", async () => {
  await using here = await changedMachine();
  expect((await here.run("mcp", "list")).stdout).toContain("\n  changed definitions: pay\n");
  expect(await here.run("call", "s.pay", "text=x")).toMatchObject({ code: 6 });
});

test("policy explain knows of the change, and no rule of mine speaks for it", async () => {
  await using here = await changedMachine();
  await here.run("policy", "allow", "s.pay");
  await here.run("mcp", "list");
  const { stdout } = await here.run("policy", "explain", "s.pay", "--mode", "yolo");
  expect(stdout).toMatch(
    /^s\.pay: ask\n {2}because +the rule for changed definitions asks about it\n {2}otherwise +a rule in .*:3 allows it\n/,
  );
  expect(JSON.parse((await here.run("tools", "s", "--json")).stdout)).toMatchObject({
    tools: [{ serverToolName: "pay", decision: "ask_user" }],
  });
});

test("without a state folder a tool may have changed: exit code 6, with the reason; --yes answers", async () => {
  await using here = await machine();
  await here.write("list.json", list("Pays once."));
  await here.write(userFile, { mcpServers: { s: stdioServer("counted", "", join(here.path, "list.json")) } });
  await here.write("state-file", "not a folder");
  const env = { FAIRLEAD_HOME: join(here.path, "state-file") };
  const { code, stderr } = await here.runWith({ env }, "call", "s.pay", "text=x");
  expect(code).toBe(6);
  expect(stderr).toMatch(
    /s\.pay denied: its definition may have changed .*: the state folder .*state-file cannot be written: /,
  );
  expect(await here.runWith({ env }, "call", "s.pay", "text=x", "--yes")).toMatchObject({ code: 0, stdout: "x\n" });
});
