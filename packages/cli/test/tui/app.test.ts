import { pathToFileURL } from "node:url";
import { stdioServer, until } from "@fairlead/test-servers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { program } from "../support/process.ts";
import { openProgram, openTerminal, type Terminal } from "../support/terminal.ts";
import { answerWith, enter, isAsked, keys, openApp, quit, watched } from "../support/tui/journey.ts";

const plainModes = { bracketedPaste: false, cursor: true };

test.each<[string, (terminal: Terminal, pid: number) => Promise<void> | void, number]>([
  ["/quit", (terminal) => terminal.type("/quit\r"), 0],
  [
    "Ctrl-C twice",
    async (terminal) => {
      terminal.type(keys.ctrlC);
      await terminal.until(/Ctrl-C once more/);
      terminal.type(keys.ctrlC);
    },
    0,
  ],
  ["SIGTERM", (_, pid) => void process.kill(pid, "SIGTERM"), 143],
  ["SIGHUP", (_, pid) => void process.kill(pid, "SIGHUP"), 129],
  ["an unexpected error", (_, pid) => void process.kill(pid, "SIGUSR2"), 1],
])("after %s a shell finds its terminal as it was, and no process is left", async (_, leave, code) => {
  await using here = await machine({ [userFile]: { mcpServers: { w: stdioServer("well-behaved") } } });
  const crash = await here.write("crash.mjs", 'process.on("SIGUSR2", () => { throw new Error("boom"); });');
  const env = { ...here.env, NODE_OPTIONS: `--import=${pathToFileURL(crash).href}` };
  const app = `sh -c 'echo $$ > pid; exec "$0" "$1"' "${process.execPath}" "${program}"`;
  const script = `stty -a > before; ${app}; echo "left with $?"; stty -a > after`;
  await using terminal = watched(openProgram({ ...here, env }, "/bin/sh", "-c", script));
  await terminal.until(/1 ready/);
  expect(terminal.modes()).toEqual({ bracketedPaste: true, cursor: false });
  expect(processesOf(here).filter((line) => line.includes("well-behaved"))).toHaveLength(1);
  await leave(terminal, Number(await here.read("project/pid")));
  await terminal.exitCode;
  expect(terminal.screen()).toMatch(new RegExp(`^left with ${code}$`, "m"));
  expect(terminal.modes()).toEqual(plainModes);
  expect(await here.read("project/after")).toBe(await here.read("project/before"));
  await until(() => processesOf(here).length === 0);
});

test("the prompt is there before a server has answered, and what is typed appears", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mute: stdioServer("silent") } } });
  await using terminal = await openApp(here);
  terminal.type("hëllo 日本");
  await terminal.untilRows((rows) => rows.includes("› hëllo 日本") && rows.includes("1 starting (mute"));
  await quit(terminal);
});

describe("one app without a model", () => {
  let here: Machine;
  let terminal: Terminal;

  beforeAll(async () => {
    here = await machine({ [userFile]: { mcpServers: { notes: stdioServer("well-behaved") } } });
    await here.write(
      "home/.gemini/policies/ask.toml",
      '[[rule]]\nmcpName = "notes"\ntoolName = "echo"\ndecision = "ask_user"\npriority = 500\n',
    );
    terminal = openTerminal(here, "--model", "manual");
    await terminal.until(/^› /m);
  });

  afterAll(async () => {
    await quit(terminal);
    await here[Symbol.asyncDispose]();
  });

  /** Whatever the test before has left on the screen. */
  beforeEach(async () => {
    terminal.resize(120, 40);
    terminal.type("\u0005\u0015");
    await terminal.untilRows((rows) => /^› *$/m.test(rows));
  });

  test("a line is a call, and its result is a card", async () => {
    enter(terminal, "demo.greet name=you");
    await terminal.until(/✓ demo\.greet name=you done(?:, \d+ s)?\n +Hello, you!/);
  });

  test("a large paste is shown by its size, and a resize keeps the prompt", async () => {
    terminal.type(`\u001b[200~${"line\r".repeat(300)}\u001b[201~`);
    await terminal.untilRows((rows) => rows.includes("› [pasted 301 lines]"));
    terminal.resize(40, 20);
    terminal.type("x");
    // The letter may arrive before the news of the new size: then the old prompt stays until the app draws it anew.
    await terminal.untilRows((rows) => rows.match(/\[pasted 301 lines\]x?/g)?.join() === "[pasted 301 lines]x");
  });

  test("a paste that never ends does not take the keyboard with it", async () => {
    terminal.type("\u001b[200~half of it");
    await terminal.untilRows((rows) => rows.includes("› half of it"));
    terminal.type("\u0015and more");
    await terminal.untilRows((rows) => rows.includes("› and more"));
  });

  test("a narrow terminal shows everything that a wide one does, and a wide one is filled again", async () => {
    await terminal.until(/1 ready/);
    enter(terminal, "notes.echo text=one-two-three-four-five-six");
    await terminal.untilRows((rows) => isAsked(rows, "notes: run echo?"));
    terminal.resize(24, 16);
    const narrow = await terminal.untilRows(
      (rows) => isAsked(rows, "notes: run echo?\n") && rows.includes("╰─ y once · n no"),
    );
    expect(narrow).toMatch(/^[›…] *$/m);
    expect(narrow).toMatch(/more rows/);
    expect(narrow).toContain("› notes.echo text=one-tw\n  o-three-four-five-six");
    await answerWith(terminal, keys.down.repeat(20));
    await terminal.untilRows((rows) => rows.includes("the end"));
    terminal.resize(100, 30);
    await terminal.untilRows(
      (rows) => /╰─ y yes, once · n no/.test(rows) && /"text": "one-two-three-four-five-six"/.test(rows),
    );
    terminal.type("y");
    await terminal.untilRows(
      (rows) => /✓ notes\.echo text=one-two-three-four-five-six done/.test(rows) && rows.match(/^› *$/gm)?.length === 1,
    );
    // The app does not clear rows that have scrolled away.
    expect(terminal.output()).not.toContain("\u001b[3J");
  });

  test("a result that is shown whole takes the place of its folded form", async () => {
    enter(terminal, "demo.greet name=Ada");
    await terminal.untilRows((rows) => /✓ demo\.greet name=Ada done/.test(rows) && /^› *$/m.test(rows));
    terminal.type("\u000f");
    const open = await terminal.untilRows((rows) => rows.includes('"name": "Ada"') && /^› *$/m.test(rows));
    expect(open.match(/✓ demo\.greet done/g)).toHaveLength(1);
    expect(open).not.toContain("✓ demo.greet name=Ada");
    expect(open.match(/^› demo\.greet name=Ada/gm)).toHaveLength(1);
  });
});

test("line by line for screen readers: nothing moves the cursor", async () => {
  await using here = await machine();
  await using terminal = watched(openTerminal(here, "--plain", "--model", "manual"));
  await terminal.until(/^>/m);
  terminal.type("demo.greet name=you\r");
  await terminal.until(/demo\.greet[\s\S]*done[\s\S]*Hello, you!\n>/);
  terminal.type("demo.greet name=first\rsecond line\r");
  await terminal.until(/"second line" is not a tool call, so nothing was run/);
  expect(terminal.output()).not.toContain("Hello, first!");
  terminal.type("/quit\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.modes()).toEqual(plainModes);
  const sequences = terminal.output().split("\u001b[").slice(1);
  expect(sequences.filter((each) => /^\d*(?:;\d+)*[A-HJKfsu]/.test(each))).toEqual([]);
});
