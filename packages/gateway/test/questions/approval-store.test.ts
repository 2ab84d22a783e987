import { mkdirSync, writeFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { approvedSubject, createApprovalStore } from "../../src/questions/approval-store.ts";

const approval = { subject: "files.write_file", state: "server's own" };

async function scene() {
  const temporary = await temporaryFolder();
  const folder = join(temporary.path, "approvals");
  let time = 1000;
  const make = () => createApprovalStore(folder, () => time);
  return {
    folder,
    make,
    store: make(),
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

test.each([approval, { subject: "files.write_file", state: undefined }, { subject: "", state: "" }])(
  "the approval %j can be taken once, also by another gateway, and leaves no file",
  async (given) => {
    await using here = await scene();
    const state = await here.store.store("digest", given);
    expect(here.store.isOwn(state)).toBe(true);
    expect([here.store.isOwn("fairlead-parked.x"), here.store.isOwn(7)]).toEqual([false, false]);
    const files = await readdir(here.folder);
    expect(files).toEqual([expect.stringMatching(/^[0-9a-f]{64}[.]601000$/)]);
    expect((await stat(join(here.folder, files[0] ?? ""))).mode & 0o777).toBe(0o600);
    expect(await here.make().take(state, "digest")).toEqual(given);
    expect(await readdir(here.folder)).toEqual([]);
    expect(await here.store.take(state, "digest")).toBeUndefined();
  },
);

test("an approval is valid for exactly ten minutes", async () => {
  await using here = await scene();
  const [first, second] = [await here.store.store("digest", approval), await here.store.store("digest", approval)];
  here.pass(600_000);
  expect(await here.store.take(first, "digest")).toEqual(approval);
  here.pass(1);
  expect(await here.store.take(second, "digest")).toBeUndefined();
});

test("an approval from the future is not valid: the clock was set back after it was given", async () => {
  await using here = await scene();
  here.pass(1_000_000);
  const [first, second] = [await here.store.store("digest", approval), await here.store.store("digest", approval)];
  here.pass(-5000);
  expect(await here.store.take(first, "digest")).toEqual(approval);
  here.pass(-1);
  expect(await here.store.take(second, "digest")).toBeUndefined();
  // The next approval removes it from the disk.
  await here.store.store("digest", approval);
  expect(await readdir(here.folder)).toHaveLength(1);
});

test.each<[string, (parts: readonly string[]) => readonly string[]]>([
  ["another time", ([prefix = "", nonce = "", , ...rest]) => [prefix, nonce, "900000", ...rest]],
  ["no time", ([prefix = "", nonce = "", , ...rest]) => [prefix, nonce, "", ...rest]],
  ["another subject", ([prefix = "", nonce = "", until = "", , ...rest]) => [prefix, nonce, until, "eA", ...rest]],
  ["another state", ([prefix = "", nonce = "", until = "", subject = ""]) => [prefix, nonce, until, subject, "eA"]],
  ["no state", ([prefix = "", nonce = "", until = "", subject = ""]) => [prefix, nonce, until, subject]],
  ["a further part", (parts) => [...parts, "eA"]],
  ["another nonce", ([prefix = "", , ...rest]) => [prefix, "x", ...rest]],
])("a state with %s gives no approval", async (_, changed) => {
  await using here = await scene();
  const state = await here.store.store("digest", approval);
  expect(await here.store.take(changed(state.split(".")).join("."), "digest")).toBeUndefined();
});

test("another request gets no approval, and uses it up", async () => {
  await using here = await scene();
  const state = await here.store.store("digest", approval);
  expect(await here.store.take(state, "other")).toBeUndefined();
  expect(await here.store.take(state, "digest")).toBeUndefined();
});

test("expired approvals and the oldest of more than 1000 are removed from the disk", async () => {
  await using here = await scene();
  mkdirSync(here.folder);
  for (let until = 999; until <= 1000 + 1000; until += 1) writeFileSync(join(here.folder, `a.${until}`), "");
  await here.store.store("digest", approval);
  const ends = (await readdir(here.folder)).map((file) => Number(file.split(".")[1])).sort((one, other) => one - other);
  expect([ends.length, ends[0], ends.at(-1)]).toEqual([1000, 1002, 601_000]);
});

test("without a folder to write to, approvals are kept until the gateway ends, at most 1000", async () => {
  await using here = await scene();
  writeFileSync(here.folder, "not a folder");
  const states: string[] = [];
  for (let count = 0; count < 1001; count += 1) states.push(await here.store.store("digest", approval));
  const take = (at: number) => here.store.take(states[at] ?? "", "digest");
  expect(await take(0)).toBeUndefined();
  expect(await take(1)).toEqual(approval);
  expect(await take(1)).toBeUndefined();
  expect(await take(1000)).toEqual(approval);
  expect(await here.make().take(states[2] ?? "", "digest")).toBeUndefined();
});

test("a subject names the tool, the server's program and its folder", () => {
  const subjects = [
    approvedSubject("a.b"),
    approvedSubject("a.c"),
    approvedSubject("a.b", { fingerprint: "f" }),
    approvedSubject("a.b", { fingerprint: "f", root: "/work" }),
    approvedSubject("a.b", { root: "f" }),
  ];
  expect(new Set(subjects).size).toBe(5);
  expect(subjects[0]).toMatch(/^a[.]b [0-9a-f]{64}$/);
  expect(approvedSubject("a.b", {})).toBe(subjects[0]);
});
