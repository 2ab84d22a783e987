import { browser, programServer, stdioServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processesOf } from "../../support/left-over.ts";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { signInScene } from "../../support/sign-in-scene.ts";
import { openTerminal, type Terminal } from "../../support/terminal.ts";
import { answerWith, enter, isAsked, keys, openApp, pasted, quit } from "../../support/tui/journey.ts";

test("the first run shows what there is; the demo server answers, and a server can be added", async () => {
  await using here = await machine();
  await using terminal = await openApp(here);
  const seen = await terminal.until(/\/help shows everything/);
  expect(seen).toContain("servers    none configured");
  expect(seen).toContain("Set GEMINI_API_KEY");
  expect(seen).toContain("To add a server:");
  const [, example = ""] = /^ {2}(demo\.\S+ .*)$/m.exec(seen) ?? [];
  enter(terminal, example);
  await terminal.until(/Hello, Ada!/);
  const { command, args } = stdioServer("well-behaved");
  enter(terminal, `/mcp add -s user notes ${[command, ...args].map((word) => `'${word}'`).join(" ")}`);
  await terminal.until(/"notes" is connected|added "notes"/);
  enter(terminal, "/tools notes");
  await terminal.until(/Says what it is told/);
  await quit(terminal);
});

test("a workspace's server is shown as it would run, and starts after a yes", async () => {
  await using here = await machine();
  await here.write(projectFile, { mcpServers: { db: programServer("well-behaved", here.path, "--read-only") } });
  await using terminal = await openApp(here);
  const asked = await terminal.untilRows((rows) => isAsked(rows, "Do you trust this folder"));
  expect(asked).toContain(`command     ${process.execPath}`);
  expect(asked).toContain("3: --read-only");
  const started = (): readonly string[] => processesOf(here).filter((line) => line.includes("--read-only"));
  expect(started()).toEqual([]);
  await answerWith(terminal, "y");
  await terminal.until(/^1 ready/m);
  expect(started()).toHaveLength(1);
  await quit(terminal);
});

const person = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name" },
    age: { type: "integer", minimum: 18 },
    colour: { type: "string", enum: ["red", "green"] },
    sure: { type: "boolean" },
  },
  required: ["name"],
};

describe("one app with two servers", () => {
  let here: Machine;
  let terminal: Terminal;

  beforeAll(async () => {
    here = await machine();
    await here.write(userFile, {
      mcpServers: { mortal: stdioServer("mortal", here.path), asker: stdioServer("counted") },
    });
    terminal = openTerminal(here);
    await terminal.until(/^2 ready/m);
  });

  afterAll(async () => {
    await quit(terminal);
    await here[Symbol.asyncDispose]();
  });

  test("a server that dies is missed on the screen, and is back by itself", async () => {
    const [running = ""] = processesOf(here).filter((line) => line.includes("mortal.mjs"));
    process.kill(Number.parseInt(running, 10), "SIGKILL");
    await terminal.until(/warning: .*mortal/);
    await terminal.untilRows((rows) => /^2 ready/m.test(rows));
    enter(terminal, "mortal.echo text=alive");
    await terminal.until(/✓ mortal\.echo text=alive done/);
  });

  test("a server's question is a form: filled in, corrected, sent", async () => {
    const params = JSON.stringify({ message: "Who are you?", requestedSchema: person });
    enter(terminal, `asker.ask method=elicitation/create 'params:=${params}'`);
    const asked = await terminal.untilRows((rows) => isAsked(rows, "asker asks you"));
    expect(asked).toContain("Who are you?");
    await answerWith(terminal, "Ada\r");
    await terminal.until(/› age/);
    terminal.type("7\r");
    await terminal.until(/› colour/);
    terminal.type("g");
    await terminal.until(/\(•\) green/);
    terminal.type("\r");
    await terminal.until(/› sure/);
    terminal.type("y");
    await terminal.until(/\(•\) yes/);
    terminal.type("\r");
    await terminal.until(/› \[ Send to the server \]/);
    terminal.type("\r");
    await terminal.until(/› age\n[\s\S]*! /);
    terminal.type("0");
    await terminal.untilRows((rows) => rows.includes("70") && !rows.includes("! "));
    terminal.type(keys.tab.repeat(3));
    await terminal.until(/› \[ Send to the server \]/);
    terminal.type("\r");
    const content = '{"action":"accept","content":{"name":"Ada","age":70,"colour":"green","sure":true}}';
    expect(await terminal.until(/✓ asker\.ask/)).toContain(content);
  });
});

test("a sign-in by paste: the address is shown whole, and the server is ready", async () => {
  await using scene = await signInScene({ env: { SSH_CONNECTION: "10.0.0.1 50000 10.0.0.2 22" } });
  await using terminal = await openApp(scene.here);
  await terminal.until(/1 needs sign-in \(docs\)/);
  enter(terminal, "/mcp auth docs");
  const asked = await terminal.untilRows((rows) => /paste the address here[\s\S]*^╰─ [\s\S]*^[›…]/m.test(rows));
  const [lines = ""] = /^http(?:\S+\n)+/m.exec(asked) ?? [];
  const { address } = await browser(lines.replaceAll("\n", ""), { visits: false });
  await answerWith(terminal, pasted(address));
  await terminal.until(/code=/);
  terminal.type("\r");
  const seen = await terminal.until(/^1 ready/m);
  expect(seen).toContain('Signed in to "docs"');
  await quit(terminal);
});
