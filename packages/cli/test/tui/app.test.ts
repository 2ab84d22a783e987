import { stdioServer, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../left-over.ts";
import { type Machine, machine, userFile } from "../machine.ts";
import { openTerminal, type Terminal } from "../terminal.ts";

const plainModes = { bracketedPaste: false, cursor: true };

/** The app, ready to be typed into. */
async function openApp(here: Pick<Machine, "env" | "project">, ...argv: readonly string[]): Promise<Terminal> {
  const terminal = openTerminal(here, ...argv);
  await terminal.until(/› /);
  return terminal;
}

test("the prompt is there before a server has answered, and what is typed appears", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mute: stdioServer("silent") } } });
  const terminal = await openApp(here);
  terminal.type("hëllo 日本");
  await terminal.until(/› hëllo 日本/);
  await terminal.until(/1 starting \(mute/);
  terminal.type("\u0015/quit\r");
  expect(await terminal.exitCode).toBe(0);
});

test.each<[string, (terminal: Terminal) => Promise<void> | void, number]>([
  ["/quit", (terminal) => terminal.type("/quit\r"), 0],
  [
    "Ctrl-C twice",
    async (terminal) => {
      terminal.type("\u0003");
      await terminal.until(/Ctrl-C once more/);
      terminal.type("\u0003");
    },
    0,
  ],
  ["SIGTERM", (terminal) => terminal.kill("SIGTERM"), 143],
  ["SIGHUP", (terminal) => terminal.kill("SIGHUP"), 129],
  ["an error that nobody expected", (terminal) => terminal.kill("SIGUSR2"), 1],
])("after %s the terminal is as it was, and no process is left", async (_, leave, code) => {
  await using here = await machine({ [userFile]: { mcpServers: { w: stdioServer("workshop") } } });
  await here.write("crash.mjs", 'process.on("SIGUSR2", () => { throw new Error("boom"); });');
  const env = { ...here.env, NODE_OPTIONS: `--import=${here.path}/crash.mjs` };
  const terminal = await openApp({ ...here, env });
  await terminal.until(/1 ready/);
  expect([terminal.modes(), processesOf(here)]).not.toEqual([plainModes, []]);
  await leave(terminal);
  expect([await terminal.exitCode, terminal.modes()]).toEqual([code, plainModes]);
  await until(() => processesOf(here).length === 0);
});

test("what was typed in an earlier run comes back with the arrow key", async () => {
  await using here = await machine();
  const first = await openApp(here);
  first.type("remember me\r");
  await first.until(/› remember me[\s\S]*› /);
  first.type("/quit\r");
  expect(await first.exitCode).toBe(0);
  const second = await openApp(here);
  await second.until(/1 ready/);
  second.type("\u001b[A\u001b[A");
  await second.until(/› remember me/);
  second.type("\u0015/quit\r");
  expect(await second.exitCode).toBe(0);
});

test("a large paste is shown by its size, and a resize keeps the prompt", async () => {
  await using here = await machine();
  const terminal = await openApp(here);
  terminal.type(`\u001b[200~${"line\r".repeat(300)}\u001b[201~`);
  await terminal.until(/› \[pasted 301 lines\]/);
  terminal.resize(40, 20);
  await terminal.until(/manual|ready/);
  terminal.type("x");
  await terminal.until(/\[pasted 301 lines\]x/);
  terminal.type("\u0003");
  terminal.type("/quit\r");
  expect(await terminal.exitCode).toBe(0);
});

test("a paste that never ends does not take the keyboard with it", async () => {
  await using here = await machine();
  const terminal = await openApp(here);
  terminal.type("\u001b[200~half of it");
  await terminal.until(/› half of it/);
  terminal.type("\u0015/quit\r");
  expect(await terminal.exitCode).toBe(0);
});

test("without a model a line is a call, and its result is a card", async () => {
  await using here = await machine();
  const terminal = await openApp(here, "--model", "manual");
  terminal.type("demo.greet name=you\r");
  await terminal.until(/demo\.greet[\s\S]*done/);
  terminal.type("/quit\r");
  expect(await terminal.exitCode).toBe(0);
});

test("line by line for screen readers: nothing moves the cursor", async () => {
  await using here = await machine();
  const terminal = openTerminal(here, "--plain", "--model", "manual");
  await terminal.until(/^>/m);
  terminal.type("demo.greet name=you\r");
  await terminal.until(/demo\.greet[\s\S]*done[\s\S]*Hello, you!\n>/);
  terminal.type("/quit\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.modes()).toEqual(plainModes);
});
