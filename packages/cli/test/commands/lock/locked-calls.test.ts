import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { list, lockedMachines, lockFile } from "../../support/locked-machine.ts";
import type { Machine } from "../../support/machine.ts";

const lockedMachine = lockedMachines();

/** As if another user had just cloned the project: nothing is known of its servers but the lock file. */
async function freshMachine(tools: Readonly<Record<string, string>>): Promise<Machine> {
  const here = await lockedMachine();
  for (const folder of ["catalogs", "known"]) await rm(join(here.home, ".fairlead", folder), { recursive: true });
  await here.write("list.json", list(tools));
  return here;
}

test("a tool that is as locked runs for a user who has not used it before", async () => {
  await using here = await freshMachine({ pay: "Pays once.", ask: "Asks." });
  expect(await here.run("call", "bank.pay", "text=x")).toMatchObject({ code: 0, stdout: "x\n" });
});

test.each([
  ["another than the locked one", "pay", { pay: "Pays twice." }],
  ["new since the server was locked", "steal", { pay: "Pays once.", steal: "Takes." }],
])("a tool that is %s has changed, until it is locked as it is now", async (_what, tool, tools) => {
  await using here = await freshMachine(tools);
  const refused = await here.run("call", `bank.${tool}`, "text=x", "--json");
  expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([6, { error: { code: "changed" } }]);
  expect(await here.run("lock", "update", "bank")).toMatchObject({ code: 0 });
  expect(await here.run("call", `bank.${tool}`, "text=x")).toMatchObject({ code: 0, stdout: "x\n" });
});

test("a lock file that was edited by hand lets nothing of the project run as if it were locked", async () => {
  await using here = await freshMachine({ pay: "Pays once.", ask: "Asks." });
  await here.write(lockFile, (await here.read(lockFile)).replace('"pay"', '"play"'));
  expect(await here.run("call", "bank.ask", "text=x")).toMatchObject({ code: 6, stdout: "" });
});
