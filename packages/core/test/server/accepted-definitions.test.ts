import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { AcceptedDefinitionsStore, withDigests } from "../../src/server/accepted-definitions.ts";

const owner = { server: "s" };

test("what is known of a tool stays known, the last eight of its definitions, for every process that reads it", async () => {
  await using folder = await temporaryFolder();
  const at = join(folder.path, "known");
  const store = new AcceptedDefinitionsStore(at);
  expect((await store.read(owner)).of("pay")).toBeUndefined();
  for (let version = 1; version <= 10; version += 1) await store.add(owner, new Map([["pay", [`${version}`]]]));
  const known = await new AcceptedDefinitionsStore(at).read(owner);
  expect(known.of("pay")).toEqual(["3", "4", "5", "6", "7", "8", "9", "10"]);
  expect(known.of("__proto__")).toBeUndefined();
  const [file = ""] = await readdir(at);
  expect((await stat(join(at, file))).mode & 0o777).toBe(0o600);
});

test("another server, workspace or typed entry knows nothing of it", async () => {
  await using folder = await temporaryFolder();
  const store = new AcceptedDefinitionsStore(folder.path);
  const owners = [owner, { ...owner, workspace: "/w" }, { ...owner, fingerprint: "/w" }, { server: "t" }];
  for (const [at, one] of owners.entries()) await store.add(one, new Map([["pay", [`${at}`]]]));
  expect(await Promise.all(owners.map(async (one) => (await store.read(one)).of("pay")))).toEqual([
    ["0"],
    ["1"],
    ["2"],
    ["3"],
  ]);
});

test("names that a server invents push nothing out: there are no further ones", async () => {
  await using folder = await temporaryFolder();
  const store = new AcceptedDefinitionsStore(folder.path);
  await store.add(owner, new Map([["pay", ["one"]]]));
  const invented = Array.from({ length: 6_000 }, (_, at) => [`${"x".repeat(500)}${at}`, ["d".repeat(64)]] as const);
  await store.add(owner, new Map(invented));
  const known = await store.add(
    owner,
    new Map([
      ["late", ["one"]],
      ["pay", ["two"]],
    ]),
  );
  expect([known.isFull, known.of("late"), known.of("pay")]).toEqual([true, undefined, ["one", "two"]]);
});

test("two writers lose nothing of each other, and a damaged file is put aside", async () => {
  await using folder = await temporaryFolder();
  const stores = [new AcceptedDefinitionsStore(folder.path), new AcceptedDefinitionsStore(folder.path)];
  await Promise.all(stores.map((store, at) => store.add(owner, new Map([[`tool${at}`, ["d"]]]))));
  const known = await new AcceptedDefinitionsStore(folder.path).read(owner);
  expect([known.of("tool0"), known.of("tool1")]).toEqual([["d"], ["d"]]);
  const [file = ""] = await readdir(folder.path);
  await folder.write(file, '{"version":1,"server":"s","tools":{"a":"b"}}');
  expect((await new AcceptedDefinitionsStore(folder.path).read(owner)).of("tool0")).toBeUndefined();
  await new AcceptedDefinitionsStore(folder.path).add(owner, new Map([["new", ["d"]]]));
  const aside = (await readdir(folder.path)).find((name) => name.includes(".corrupt-")) ?? "";
  expect(await readFile(join(folder.path, aside), "utf8")).toContain('"a":"b"');
});

test.each([
  ["a list", "[]"],
  ["of another version", '{"version":2,"server":"s","tools":{}}'],
  ["without a server", '{"version":1,"tools":{}}'],
  ["without tools", '{"version":1,"server":"s"}'],
  ["with a digest that is no text", '{"version":1,"server":"s","tools":{"a":["d"],"b":["d",7]}}'],
  ["no JSON", "{"],
])("a file that is %s counts as empty until it is written again", async (_, text) => {
  await using folder = await temporaryFolder();
  await new AcceptedDefinitionsStore(folder.path).add(owner, new Map([["pay", ["one"]]]));
  const [file = ""] = await readdir(folder.path);
  await folder.write(file, text);
  const store = new AcceptedDefinitionsStore(folder.path);
  const read = await store.read(owner);
  expect([read.of("pay"), read.isFull]).toEqual([undefined, false]);
  const added = await store.add(owner, new Map([["pay", ["two"]]]));
  expect([added.of("pay"), added.isFull]).toEqual([["two"], false]);
});

test("a file that cannot be read is no empty one", async () => {
  await using folder = await temporaryFolder();
  await new AcceptedDefinitionsStore(folder.path).add(owner, new Map([["pay", ["one"]]]));
  const [file = ""] = await readdir(folder.path);
  await rm(join(folder.path, file));
  await mkdir(join(folder.path, file));
  await expect(new AcceptedDefinitionsStore(folder.path).read(owner)).rejects.toMatchObject({
    message: `${join(folder.path, file)} cannot be read: it is a folder, not a file`,
  });
});

test("a digest that comes again is the newest, and is there once", () => {
  expect(withDigests(["a", "b", "c"], ["b", "d"])).toEqual(["a", "c", "b", "d"]);
  expect(withDigests([], [])).toEqual([]);
});
