import { calls, inTurn, says, stdioServer, workshop } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { scene } from "../../support/model-scene.ts";
import type { Terminal } from "../../support/terminal.ts";
import { answerWith, enter, isAsked, keys, openApp, quit } from "../../support/tui/journey.ts";

function hasColours(terminal: Terminal): boolean {
  const modes = terminal.cells().flatMap((row) => row.flatMap(({ look: [mode, , ground] }) => [mode, ground]));
  return modes.some((mode) => mode !== 0);
}

test("a chat with two tools: both are asked about, one runs, one does not, and the model is told", async () => {
  await using here = await scene({
    servers: { shop: stdioServer("workshop"), notes: stdioServer("well-behaved") },
    api: {
      answer: inTurn(
        { pieces: [{ text: "Let me *look*." }, { call: "look" }, { call: "notes__echo", args: { text: "hi" } }] },
        says("## All done\n\n- one\n- two"),
      ),
    },
  });
  await using terminal = await openApp(here);
  await terminal.until(/2 ready/);
  enter(terminal, "please look");
  // The order of the two questions is not fixed.
  const first = await terminal.untilRows((rows) => isAsked(rows, "(1 of 2) "));
  expect(first).toContain("Let me look.");
  expect(hasColours(terminal)).toBe(true);
  const isLook = first.includes("╭─ (1 of 2) shop: run look?");
  await answerWith(terminal, isLook ? "y" : "n");
  const second = await terminal.untilRows((rows) => isAsked(rows, isLook ? "notes: run echo?" : "shop: run look?"));
  expect(isLook ? second : first).toContain('│ ▏   "text": "hi"');
  await answerWith(terminal, isLook ? "n" : "y");
  const end = await terminal.untilRows((rows) => rows.includes("two") && !rows.includes("working"));
  expect(end).toMatch(/✓ shop\.look +done(?:, \d+ s)?\n {2}nothing to see/);
  expect(end).toMatch(/✗ notes\.echo text=hi denied/);
  expect(end).toMatch(/All done\n+.*one\n.*two/);
  await quit(terminal);
  const [, told] = here.api.seen;
  expect(JSON.stringify(told?.body.contents)).toMatch(/nothing to see.*the user declined it/);
});

test("Esc ends the call that runs and not the turn, Ctrl-C the same; the app lives on", async () => {
  await using shop = await workshop("legacy", "stdio");
  await using here = await scene({
    servers: { shop: shop.entry },
    api: { answer: inTurn(calls("hang"), says("You stopped it."), calls("hang"), says("And again.")) },
  });
  await using terminal = await openApp(here);
  await terminal.until(/1 ready/);
  enter(terminal, "go");
  await terminal.until(/╭─ shop: run hang\?/);
  // Always: the second time the user is not asked.
  await answerWith(terminal, "t");
  for (const [time, [key, words]] of [
    [keys.escape, "You stopped it."] as const,
    [keys.ctrlC, "And again."] as const,
  ].entries()) {
    if (time > 0) enter(terminal, "go");
    await terminal.untilRows((rows) => /shop\.hang +running/.test(rows));
    await shop.noted("hang", time + 1);
    terminal.type(key);
    await terminal.untilRows((rows) => rows.includes(words) && !rows.includes("working"));
    await shop.noted("cancelled hang", time + 1);
  }
  enter(terminal, "/history");
  await terminal.until(/shop\.hang +allow.*\n(?:.*\n)?.*shop\.hang +allow/);
  await quit(terminal);
});

test("what is typed before a question is there stays in the prompt, and answers nothing", async () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  await using here = await scene({
    counted: ["notes"],
    api: {
      answer: inTurn(
        { pieces: [{ text: "Wait. " }, { until: opened }, { call: "echo", args: { text: "1" } }] },
        says("Fine."),
      ),
    },
  });
  await using terminal = await openApp(here);
  await terminal.until(/1 ready/);
  enter(terminal, "go");
  await terminal.until(/Wait\./);
  terminal.type("y");
  await terminal.until(/^› y/m);
  open();
  await terminal.untilRows((rows) => /╭─ notes: run echo\?[\s\S]*Tab: answer the question above\.\n› y/.test(rows));
  // Also what is typed on, Enter and all, is no answer.
  terminal.type("es please\r");
  await terminal.untilRows(
    (rows) => rows.includes("queued: yes please") && rows.includes("Tab: answer the question above."),
  );
  terminal.type(keys.tab);
  await terminal.untilRows((rows) => !rows.includes("Tab: answer the question above."));
  expect(await here.diary("notes")).not.toContain('call echo {"text":"1"}');
  terminal.type("y");
  await terminal.until(/✓ notes\.echo text=1 done/);
  expect(await here.diary("notes")).toContain('call echo {"text":"1"}');
  await quit(terminal);
});

test("without colours everything is said in words", async () => {
  await using here = await scene({ counted: ["notes"], api: { answer: inTurn(calls("echo"), says("Fine.")) } });
  await using terminal = await openApp({ ...here, env: { ...here.env, NO_COLOR: "1" } });
  await terminal.until(/1 ready/);
  enter(terminal, "go");
  const asked = await terminal.untilRows((rows) => isAsked(rows, "notes: run echo?"));
  expect(asked).toMatch(/\? notes\.echo +needs confirmation/);
  expect(hasColours(terminal)).toBe(false);
  await answerWith(terminal, "n");
  await terminal.until(/✗ notes\.echo +denied/);
  await quit(terminal);
});
