import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../../left-over.ts";
import { machine, userFile } from "../../machine.ts";
import { program } from "../../process.ts";
import { openProgram } from "../../terminal.ts";
import { answerWith, enter, isAsked, keys, openApp, quit, watched } from "./app.ts";

test("a narrow terminal shows everything that a wide one does, and a wide one is filled again", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { notes: stdioServer("well-behaved") } } });
  await here.write(
    "home/.gemini/policies/ask.toml",
    '[[rule]]\nmcpName = "notes"\ntoolName = "echo"\ndecision = "ask_user"\npriority = 500\n',
  );
  const terminal = await openApp(here, "--model", "manual");
  await terminal.until(/1 ready/);
  enter(terminal, "notes.echo text=one-two-three-four-five-six");
  await terminal.until(/╭─ notes: run echo\?/);
  terminal.resize(24, 16);
  const narrow = await terminal.untilRows(
    (rows) =>
      isAsked(rows, "notes: run echo?\n") &&
      rows.includes("╰─ y once · n no") &&
      rows.includes("› notes.echo text=one-tw\n"),
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
  await quit(terminal);
  // What has scrolled away is nobody's to clear.
  expect(terminal.output()).not.toContain("\u001b[3J");
});

test("a result that is shown whole takes the place of its folded form", async () => {
  await using here = await machine();
  const terminal = await openApp(here, "--model", "manual");
  await terminal.until(/1 ready/);
  enter(terminal, "demo.greet name=Ada");
  await terminal.until(/✓ demo\.greet name=Ada done/);
  terminal.type("\u000f");
  const open = await terminal.untilRows((rows) => rows.includes('"name": "Ada"') && /^› *$/m.test(rows));
  expect(open.match(/✓ demo\.greet/g)).toHaveLength(1);
  expect(open.match(/^› demo\.greet/gm)).toHaveLength(1);
  await quit(terminal);
});

test.each([
  ["/quit", undefined],
  ["an error that nobody expected", "SIGUSR2"],
] as const)("after %s a shell finds its terminal as it was", async (_, signal) => {
  await using here = await machine();
  await here.write("crash.mjs", 'process.on("SIGUSR2", () => { throw new Error("boom"); });');
  const env = { ...here.env, NODE_OPTIONS: `--import=${here.path}/crash.mjs` };
  const script = `stty -a > before; "${process.execPath}" "${program}"; stty -a > after; echo over`;
  const terminal = watched(openProgram({ ...here, env }, "/bin/sh", "-c", script));
  await terminal.until(/^› /m);
  await terminal.until(/1 ready/);
  if (signal === undefined) enter(terminal, "/quit");
  for (const line of signal === undefined ? [] : processesOf(here).filter((each) => each.includes(`node ${program}`)))
    process.kill(Number.parseInt(line.trim(), 10), signal);
  await terminal.until(/^over$/m);
  expect(await here.read("project/after")).toBe(await here.read("project/before"));
  expect(terminal.modes()).toEqual({ bracketedPaste: false, cursor: true });
});
