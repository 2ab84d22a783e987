import { inTurn, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { scene } from "../../support/model-scene.ts";
import { enter, openApp, pasted, quit } from "../../support/tui/journey.ts";

test("a paste inside an argument is one value, and after a line that fails the rest is not run", async () => {
  await using here = await machine();
  await using terminal = await openApp(here, "--model", "manual");
  terminal.type("demo.statistics text=");
  terminal.type(pasted(`${"demo.greet name=you\r".repeat(20)}the "end"`));
  await terminal.untilRows((rows) => rows.includes('› demo.statistics text="[pasted 21 lines]"'));
  terminal.type("\r");
  const screen = await terminal.untilRows((rows) => /"lines":21\b/.test(rows) && /^› *$/m.test(rows));
  expect(screen).toMatch(/✓ demo\.statistics .*done/);
  expect(terminal.screen()).not.toContain("Hello, you!");
  terminal.type(pasted("demo.greet name=Ada\rdemo.gret name=Bob\rdemo.greet name=Eve\rdemo.greet name=Kim"));
  terminal.type("\r");
  await terminal.untilRows((rows) => rows.includes("The other 2 lines were not run.") && /^› *$/m.test(rows));
  expect(terminal.screen()).toContain("Hello, Ada!");
  expect(terminal.screen()).not.toMatch(/Hello, (?:Eve|Kim)!/);
  await quit(terminal);
});

test("a paste of 20 000 lines does not freeze the prompt, before it is sent or after", async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at} of a long file, with some words in it`);
  await using here = await scene({ api: { answer: inTurn(says("Read."), says("Still here.")) } });
  await using terminal = await openApp(here);
  terminal.type(pasted(lines.join("\r")));
  await terminal.untilRows((rows) => rows.includes("› [pasted 20000 lines]"));
  terminal.type("x\r");
  await terminal.untilRows((rows) => rows.includes("Read.") && /^› *$/m.test(rows));
  // Only the beginning is drawn: all of it took half a minute, in which no key was seen.
  expect(terminal.screen()).toMatch(/line 19 of [\s\S]*… 19980 more lines/);
  expect(terminal.output()).not.toContain("line 20 of");
  enter(terminal, "and now?");
  await terminal.untilRows((rows) => rows.includes("Still here."));
  expect(JSON.stringify(here.api.seen.at(-1)?.body.contents)).toContain(
    "line 19999 of a long file, with some words in itx",
  );
  await quit(terminal);
});
