import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readProcessTable } from "../../src/stdio/process-table.ts";
import { turn } from "../support/collected.ts";
import { processTable, statusOf } from "../support/process-table.ts";

test("a process that replaces its program is found as soon as it has an environment again", async () => {
  await using table = await processTable({ pid: 41 });
  // The first look is over when the function returns its promise.
  const reading = readProcessTable("TAG=a.", new Set(), table.path);
  writeFileSync(`${table.path}/41/environ`, "PATH=/bin\0TAG=a.7\0");
  writeFileSync(`${table.path}/41/stat`, statusOf({ pid: 41, environmentEnd: 4096 }));
  expect((await reading).tagged).toEqual(new Map([["7", [41]]]));
});

test.each([
  ["an empty environment", { pid: 42, environmentEnd: 4096 }],
  ["no environment because it has ended", { pid: 43, state: "Z" }],
])("a process with %s is not waited for", async (_, process) => {
  await using table = await processTable(process);
  const reading = readProcessTable("TAG=a.", new Set([process.pid]), table.path);
  expect(await Promise.race([reading, turn()])).toMatchObject({ tagged: new Map() });
});
