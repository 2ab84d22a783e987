import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configurationOf } from "../../../src/shell/configuration.ts";
import { LiveSettings } from "../../../src/tui/session/live-settings.ts";
import { machine, userFile } from "../../support/machine.ts";
import { contextOf } from "../../support/tui/session-scene.ts";

test("a change that the app begins while a file is compared is not taken for one by another program", async () => {
  await using here = await machine({ [userFile]: "{}" });
  const file = join(here.path, userFile);
  const context = contextOf(here, {});
  const reload = async () => {
    await settings.read();
    return { kept: [], replaced: [], added: [], removed: [] };
  };
  const settings: LiveSettings = new LiveSettings(
    context,
    await configurationOf(context),
    () => ({ reload }),
    () => {},
  );
  await settings.reload();
  const compared = settings.isChangedElsewhere(file);
  await settings.change(async () => writeFileSync(file, '{ "mcpServers": {} }'));
  expect(await compared).toBe(false);
  writeFileSync(file, "{}");
  expect(await settings.isChangedElsewhere(file)).toBe(true);
});
