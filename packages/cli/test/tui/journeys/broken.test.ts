import { cp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { program } from "../../support/process.ts";
import { openProgram } from "../../support/terminal.ts";
import { enter, quit, watched } from "../../support/tui/journey.ts";

test("a broken installation is told, and ends the turn, not the app", async () => {
  await using here = await machine();
  const installed = dirname(dirname(program));
  const copy = join(here.path, "broken");
  for (const part of ["bin", "bundle", "package.json"])
    await cp(join(installed, part), join(copy, part), { recursive: true });
  await symlink(join(installed, "node_modules"), join(copy, "node_modules"));
  const chunks = join(copy, "bundle");
  await rm(join(chunks, "cache"), { recursive: true, force: true });
  // The one with the turn in it, which is loaded when something is sent.
  const names = (await readdir(chunks)).filter((name) => name.endsWith(".cjs"));
  const texts = await Promise.all(names.map((name) => readFile(join(chunks, name), "utf8")));
  const turns = names.filter((_, at) => /^exports\.takeTurn = /m.test(texts[at] ?? ""));
  expect(turns.length).toBeGreaterThan(0);
  for (const name of turns) await rm(join(chunks, name));
  await using terminal = watched(
    openProgram(here, process.execPath, join(copy, "bin/fairlead.cjs"), "--model", "manual"),
  );
  await terminal.until(/\/help shows everything/);
  enter(terminal, "demo.greet name=Ada");
  const seen = await terminal.untilRows((rows) => rows.includes("error: ") && !rows.includes("working"));
  expect(seen).toContain("error: internal failure: ");
  await quit(terminal);
});
