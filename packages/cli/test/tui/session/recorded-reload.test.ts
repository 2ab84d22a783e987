/** `/mcp reload` in the app, as V8 records it: compared with ARCHITECTURE.md, and it returns to no file. */

import { join } from "node:path";
import {
  drawnWalk,
  filesTwice,
  namedIn,
  type RecordedStack,
  recordStacks,
  stdioServer,
  walkOf,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("the settings are read, and a changed server is closed, on the walks that are drawn", async () => {
  await using here = await machine();
  const entry = stdioServer("counted", join(here.path, "notes"));
  await here.write(userFile, { mcpServers: { s: entry } });
  await using scene = await openScene(here);
  await scene.ready("s");
  await here.write(userFile, { mcpServers: { s: { ...entry, env: { A: "1" } } } });
  const stacks = await recordStacks(async () => {
    scene.enter("/mcp reload");
    await scene.shown(/Settings reloaded/);
  });
  async function expectDrawn(stack: RecordedStack | undefined, to: string, title: string): Promise<void> {
    if (stack === undefined) throw new Error(`not recorded: ${title}`);
    const walk = walkOf(stack, "cli/src/tui/slash/mcp.ts", to);
    expect(namedIn(walk)).toEqual(await drawnWalk(title));
    expect(filesTwice(walk)).toEqual([]);
  }
  const passing = (name: string, file: string): readonly RecordedStack[] =>
    stacks.filter(({ functions }) => functions.some((one) => one.name === name && one.file === file));
  const reads = passing("readSource", "core/src/settings/read/source.ts").filter(({ reached }) =>
    reached.endsWith(userFile),
  );
  expect(reads).toHaveLength(1);
  await expectDrawn(reads[0], "core/src/files/", "/mcp reload, the settings are read");
  const ends = passing("end", "wire/src/stdio/stdio.ts");
  await expectDrawn(ends[0], "wire/src/", "/mcp reload, a changed server is closed");
});
