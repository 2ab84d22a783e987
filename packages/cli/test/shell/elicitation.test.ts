import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";
import { watched } from "../support/tui/journey.ts";
import { openScene } from "../support/tui/session-scene.ts";

function shop(): Promise<Machine> {
  return machine({ [userFile]: { mcpServers: { shop: stdioServer("asks") } } });
}

test("a tool that needs elicitation is offered in every door", async () => {
  await using here = await shop();
  expect((await here.run("tools")).stdout).toMatch(/^ {2}order\(/m);
  expect((await here.run("mcp", "test", "shop")).stdout).toMatch(/1 tool\b/);
  expect((await here.run("mcp", "list")).stdout).toMatch(/1 tool\b/);
  await using app = await openScene(here);
  await app.ready("shop");
  app.enter("/tools");
  await app.shown(/^\/tools[\s\S]*order\(/);
});

test.each([
  ["call", ["call", "shop.order"]],
  ["-p", ["-p", "shop.order", "--model", "manual", "--allow", "shop.order"]],
])("without a terminal, %s leaves a question open and says so", async (_, argv) => {
  await using here = await shop();
  const { code, stdout, stderr } = await here.run(...argv);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"action":"cancel"}\n' });
  expect(stderr).toContain(
    '"shop" asked a question (elicitation), but this command cannot ask you: Fairlead cancelled the question',
  );
});

test("call on a terminal asks field by field, checks each value, and sends what is confirmed", async () => {
  await using here = await shop();
  await using terminal = watched(openTerminal(here, "call", "shop.order"));
  const asked = await terminal.until(/size \(required\):$/m);
  expect(asked).toMatch(/"shop" asks you:\n {2}\| Which one\?\n[\s\S]*one of: small, medium, large\n/);
  terminal.type("\r");
  await terminal.until(/! is required\nsize \(required\):$/m);
  terminal.type("huge\r");
  await terminal.until(/! must be one of: small, medium, large\n/);
  terminal.type("med\r");
  await terminal.until(/number \[1\]:$/m);
  terminal.type("0\r");
  await terminal.until(/! must be 1 or more\n/);
  terminal.type("\r");
  await terminal.until(/\| Anything else\.\nnote:$/m);
  terminal.type("\\-\r");
  await terminal.until(/Send this to "shop"\? \[y\/N\]$/m);
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain('{"action":"accept","content":{"size":"medium","number":1,"note":"-"}}');
});

test("defaults are shown as they are typed: choices by their titles", async () => {
  await using here = await shop();
  await using terminal = watched(openTerminal(here, "call", "shop.order", "how=titled"));
  for (const words of ["hero [Ada]", "fish [Tuna, Cod]", "sure [yes]", "note [as usual]"]) {
    await terminal.untilRows((rows) => rows.trimEnd().endsWith(`${words}:`));
    terminal.type("\r");
  }
  await terminal.until(/Send this to "shop"\? \[y\/N\]$/m);
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen().replaceAll("\n", "")).toContain(
    '{"hero":"hero-1","fish":["fish-1","fish-2"],"sure":true,"note":"as usual"}',
  );
});

test("a secret is not shown while it is typed, nor before it is sent", async () => {
  await using here = await shop();
  await using terminal = watched(openTerminal(here, "call", "shop.order", "how=secret"));
  await terminal.until(/asks for a secret[^\n]*\napiToken \(required\) \(not shown\):$/m);
  terminal.type("hunter2\r");
  await terminal.until(/! must have at least 8 characters, not 7\napiToken \(required\) \(not shown\):$/m);
  terminal.type("hunter22\r");
  await terminal.until(/secretPair \(not shown\):$/m);
  terminal.type("hunter2\r");
  await terminal.until(/! is not a valid value\nsecretPair \(not shown\):$/m);
  terminal.type("\r");
  await terminal.until(/note:$/m);
  terminal.type("shown\r");
  const asked = await terminal.until(/Send this to "shop"\? \[y\/N\]$/m);
  expect(asked).toContain('{\n  "apiToken": "(hidden)",\n  "note": "shown"\n}');
  expect(asked).not.toContain("hunter");
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain('{"action":"accept","content":{"apiToken":"hunter22","note":"shown"}}');
});

/** Each of these answers one question of the same call: the call goes on. Ctrl-D is last, because it ends the input. */
test.each([
  ["form", { "-\r": "decline", ".\r": "cancel", "\u0003": "cancel", "\u0004": "cancel" }],
  ["secret", { ".\r": "cancel", "-\r": "decline", "\u0004": "cancel" }],
])("in a %s, a dash declines, and a dot, Ctrl-C and Ctrl-D cancel", async (how, actions) => {
  await using here = await shop();
  const keys = Object.keys(actions);
  await using terminal = watched(openTerminal(here, "call", "shop.order", `how=${how}`, `times=${keys.length}`));
  for (const [at, key] of keys.entries()) {
    await terminal.until(new RegExp(`(?:"shop" asks[\\s\\S]*){${at + 1}}\\(required\\).*:$`, "m"));
    terminal.type(key);
  }
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen().match(/(?<="action":")\w+/g)).toEqual(Object.values(actions));
});

test("an address is shown whole, and opened if the user wants that", async () => {
  await using here = await shop();
  await using terminal = watched(openTerminal(here, "call", "shop.order", "how=url"));
  const asked = await terminal.until(/\[y\/h\/N\]$/m);
  expect(asked).toContain("https://example.com/pay\n");
  terminal.type("h\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain('{"action":"accept"}');
});
