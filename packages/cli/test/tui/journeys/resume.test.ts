import { inTurn, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { scene } from "../../support/model-scene.ts";
import { openTerminal } from "../../support/terminal.ts";
import { enter, keys, openApp, quit, watched } from "../../support/tui/journey.ts";

test("a conversation is named, left, continued from a list and compacted; it is replayed without a model", async () => {
  await using here = await scene({
    api: {
      answer: inTurn(
        says("A bowline is a knot."),
        says("Something else."),
        says("Yes, we spoke of it."),
        says("We spoke of knots."),
        says("I only have the summary."),
      ),
    },
  });
  {
    await using terminal = await openApp(here);
    await terminal.until(/gemini-2.5-flash/);
    enter(terminal, "what is a bowline?");
    await terminal.untilRows((rows) => rows.includes("A bowline is a knot.") && !rows.includes("working"));
    enter(terminal, "/rename Knots");
    await terminal.until(/The conversation is now called "Knots"/);
    enter(terminal, "/clear");
    await terminal.until(/New conversation/);
    enter(terminal, "and now?");
    await terminal.untilRows((rows) => rows.includes("Something else.") && !rows.includes("working"));
    enter(terminal, "/resume");
    await terminal.untilRows((rows) =>
      /Which conversation[\s\S]*Knots \(less than a minute ago, .*, 0 calls\)/.test(rows),
    );
    await terminal.untilRows((rows) => /^╭─ [\s\S]*^›/m.test(rows));
    terminal.type(keys.down);
    terminal.type("\r");
    await terminal.untilRows((rows) => /what is a bowline\?[\s\S]*A bowline is a knot[\s\S]*Continuing/.test(rows));
    await quit(terminal);
  }
  await using terminal = watched(openTerminal(here, "--continue"));
  await terminal.until(/what is a bowline\?[\s\S]*Continuing the conversation/);
  enter(terminal, "did we speak of knots?");
  await terminal.untilRows((rows) => rows.includes("Yes, we spoke of it.") && !rows.includes("working"));
  enter(terminal, "/compact");
  await terminal.until(/The model continues from its summary/);
  enter(terminal, "what do you know?");
  await terminal.untilRows((rows) => rows.includes("I only have the summary.") && !rows.includes("working"));
  await quit(terminal);
  const sent = here.api.seen.map(({ body }) => JSON.stringify(body.contents));
  expect(sent[2]).toMatch(/what is a bowline\?.*A bowline is a knot\..*did we speak of knots\?/);
  expect(sent[4]).toMatch(/We spoke of knots\..*what do you know\?/);
  expect(sent[4]).not.toContain("bowline");

  const asked = here.api.seen.length;
  const [id = ""] = /\d{8}-\d{6}-[0-9a-f]{6}(?=.*Knots)/.exec((await here.run("conversations")).stdout) ?? [];
  await using replayed = watched(openTerminal(here, "replay", id, "--speed", "1000"));
  expect(await replayed.exitCode).toBe(0);
  expect(replayed.rows().join("\n")).toMatch(
    /what is a bowline\?[\s\S]*A bowline is a knot[\s\S]*I only have the summary/,
  );
  await using stepped = watched(openTerminal(here, "replay", id, "--step"));
  await stepped.until(/^› /m);
  stepped.type(" ");
  await stepped.until(/what is a bowline\?/);
  expect(stepped.rows().join("\n")).not.toContain("A bowline is a knot");
  stepped.type("q");
  expect(await stepped.exitCode).toBe(0);
  expect(here.api.seen).toHaveLength(asked);
});
