import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { loadHistory, saveEntry } from "../../../src/tui/input/history.ts";
import { machine } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("what was typed in an earlier run comes back with the arrow key", async () => {
  await using here = await machine();
  {
    await using first = await openScene(here);
    await first.shown(/^Fairlead/);
    first.enter("remember me");
    await first.shown(/no model to answer/);
  }
  await using second = await openScene(here);
  await second.until(({ history }) => history.entries.length > 0);
  second.session.press({ name: "up" });
  expect(second.state().editor.text).toBe("remember me");
});

test("a line that may contain a secret is not saved", async () => {
  await using folder = await temporaryFolder();
  const lines = {
    secret: [
      "/mcp add git -e TOKEN=hunter2 -- npx git",
      "/mcp add -eTOKEN=hunter2 git npx git",
      " /mcp  add git --env=TOKEN=hunter2 -- npx git",
      "/mcp add web https://example.com -H 'Authorization: Bearer hunter2'",
      '/mcp add web https://example.com\n"-HX-Key: hunter2"',
      "/mcp add web https://example.com --header 'X-Key: hunter2'",
      "/mcp add io.github.acme/weather --input KEY=hunter2 --yes",
      "/secret set TOKEN hunter2",
      "vault.login user=me password='hunter2 and more'",
      'vault.login {"user":"me","api_key":"hunter2"}',
      'vault.login(password: "hunter2")',
    ],
    plain: [
      "vault.login user=me password=${secret:VAULT}",
      "files.read path=token.txt",
      "/mcp add web https://example.com",
      "/mcp add files -- npx some-env -y",
      "/mcp list",
      "what is -e?",
    ],
  };
  for (const line of [...lines.secret, ...lines.plain]) await saveEntry(folder.path, line);
  expect(await loadHistory(folder.path)).toEqual(lines.plain);
});
