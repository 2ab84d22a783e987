import { anthropicApi, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { scene } from "../../support/model-scene.ts";
import { openTerminal } from "../../support/terminal.ts";
import { answerWith, enter, isAsked, keys, openApp, quit, watched } from "../../support/tui/journey.ts";

const asked = (rows: string): boolean => isAsked(rows, "Fairlead: choose one");

test("/model shows the API's models with the current one selected, and Enter takes the selected one", async () => {
  await using here = await machine();
  const others = Array.from({ length: 60 }, (_, at) => `claude-haiku-${at}`);
  await using api = await anthropicApi({ models: [...others, "claude-sonnet-test", "claude-opus-test"] });
  const env = { ANTHROPIC_API_KEY: api.settings.apiKey, ANTHROPIC_BASE_URL: api.baseUrl };
  await using terminal = await openApp({ ...here, env: { ...here.env, ...env } });
  await terminal.until(/claude-sonnet-test/);
  enter(terminal, "/model");
  // The list is longer than the screen, and begins where the current model is.
  await terminal.untilRows((rows) => asked(rows) && rows.includes("(•) claude-sonnet-test (current)"));
  await answerWith(terminal, keys.down);
  await terminal.untilRows((rows) => rows.includes("(•) claude-opus-test"));
  terminal.type("\r");
  await terminal.until(/The model is now claude-opus-test\./);
  enter(terminal, "Hello");
  await terminal.until(/You said: Hello/);
  expect(api.seen.at(-1)?.model).toBe("claude-opus-test");
  enter(terminal, "/model");
  await terminal.untilRows((rows) => asked(rows) && rows.includes("(•) claude-opus-test (current)"));
  await answerWith(terminal, keys.escape);
  await terminal.untilRows((rows) => !asked(rows));
  await quit(terminal);
});

test("a conversation that is continued with --model names its earlier model, and does not call it missing", async () => {
  await using here = await scene({ api: { answer: () => says("Fine.") } });
  expect((await here.ask("Hello", "--model", "gemini-2.5-flash")).code).toBe(0);
  await using terminal = watched(openTerminal(here, "--continue", "--model", "manual"));
  await terminal.until(/The conversation's model was gemini-2\.5-flash\.\s+\/model gemini-2\.5-flash/);
  expect(terminal.rows().join("\n")).not.toContain("not configured");
  await quit(terminal);
});
