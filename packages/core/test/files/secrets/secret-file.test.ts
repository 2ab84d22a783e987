import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { openSecretFile } from "../../../src/files/secrets/secret-file.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";

async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = [".", ...(await readdir(folder)).sort()];
  const modes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mode & 0o777));
  return Object.fromEntries(names.map((name, index) => [name, (modes[index] ?? 0).toString(8)]));
}

const closed = { ".": "700", "secrets.json": "600", "secrets.key": "600" };

test("the files are for their owner alone", async () => {
  await using folder = await temporaryFolder();
  const directory = join(folder.path, "state");
  await openSecretFile(directory).set("a", "1");
  expect(await modesIn(directory)).toEqual(closed);
});

test.each(["get", "set"] as const)("modes that another program widened are narrowed again by %s", async (method) => {
  await using folder = await temporaryFolder();
  const store = openSecretFile(folder.path);
  await store.set("a", "1");
  await chmod(folder.path, 0o755);
  await chmod(join(folder.path, "secrets.json"), 0o644);
  await chmod(join(folder.path, "secrets.key"), 0o666);
  await (method === "get" ? store.get("a") : store.set("a", "2"));
  expect(await modesIn(folder.path)).toEqual(closed);
});

test("the same value looks different each time", async () => {
  await using folder = await temporaryFolder();
  const store = openSecretFile(folder.path);
  await store.set("a", "same");
  await store.set("b", "same");
  const { secrets } = JSON.parse(await folder.read("secrets.json")) as { secrets: Record<string, { data: string }> };
  expect(secrets["a"]?.data).not.toBe(secrets["b"]?.data);
});

interface Stored {
  key: string;
  secrets: Record<string, Record<string, string>>;
}

async function changeStore(folder: TemporaryFolder, change: (stored: Stored) => void): Promise<void> {
  const stored = JSON.parse(await folder.read("secrets.json")) as Stored;
  change(stored);
  await folder.write("secrets.json", stored);
}

function flipBit(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
  return bytes.toString("base64");
}

const flip = (part: string) => (folder: TemporaryFolder) =>
  changeStore(folder, ({ secrets }) => {
    const entry = secrets["a"] ?? {};
    entry[part] = flipBit(entry[part] ?? "");
  });

describe("what is broken is set aside and named; what is not, stays", () => {
  const breakages: readonly (readonly [
    what: string,
    make: (folder: TemporaryFolder) => Promise<unknown>,
    reason: RegExp,
    left: readonly string[],
  ])[] = [
    ["a bit of the text", flip("data"), /the secret a is damaged/, ["b"]],
    ["a bit of the tag", flip("tag"), /the secret a is damaged/, ["b"]],
    ["a bit of the nonce", flip("iv"), /the secret a is damaged/, ["b"]],
    [
      "a shorter tag",
      (folder) => changeStore(folder, ({ secrets }) => Object.assign(secrets["a"] ?? {}, { tag: "AAAA" })),
      /the secret a is damaged/,
      ["b"],
    ],
    [
      "one entry under another's name",
      (folder) =>
        changeStore(folder, ({ secrets }) => {
          secrets["a"] = secrets["b"] ?? {};
        }),
      /the secret a is damaged/,
      ["b"],
    ],
    ["a lost key", (folder) => rm(join(folder.path, "secrets.key")), /secrets[.]key, is missing or wrong/, []],
    [
      "another key",
      (folder) => folder.write("secrets.key", `${"A".repeat(43)}=`),
      /secrets[.]key, is missing or wrong/,
      [],
    ],
    ["half a key", (folder) => folder.write("secrets.key", "AAAA"), /secrets[.]key, is missing or wrong/, []],
    ["text that is no JSON", (folder) => folder.write("secrets.json", "{"), /the file is damaged/, []],
    ["another JSON", (folder) => folder.write("secrets.json", "[]"), /the file is damaged/, []],
    [
      "an entry of another shape",
      (folder) => changeStore(folder, ({ secrets }) => Object.assign(secrets, { a: null })),
      /the file is damaged/,
      [],
    ],
    [
      "bytes that are no text",
      (folder) => writeFile(join(folder.path, "secrets.json"), Buffer.from([0xff, 0xff])),
      /the file is damaged/,
      [],
    ],
  ];

  test.each(breakages)("%s", async (_, make, reason, left) => {
    await using folder = await temporaryFolder();
    const store = openSecretFile(folder.path);
    await store.set("a", "1");
    await store.set("b", "2");
    await make(folder);
    const broken = await folder.read("secrets.json");
    const file = join(folder.path, "secrets.json");

    const { message } = await expectRefusal(store.get("a"), { code: "internal", message: reason, next: "secret set" });
    expect(message).toContain(file);

    const aside = (await readdir(folder.path)).filter((name) => name.startsWith("secrets.json.corrupt-"));
    expect(aside).toHaveLength(1);
    expect(message).toContain(aside[0]);
    expect(await folder.read(aside[0] ?? "")).toBe(broken);

    expect([await store.get("a"), await store.list()]).toEqual([undefined, left]);
    for (const name of left) expect(await store.get(name)).toBe("2");
    expect((await stat(join(folder.path, aside[0] ?? ""))).mode & 0o077).toBe(0);
    await store.set("a", "again");
    expect(await openSecretFile(folder.path).get("a")).toBe("again");
  });

  test.each(["set", "remove", "list"] as const)("%s does not go on with a store whose key is lost", async (method) => {
    await using folder = await temporaryFolder();
    const store = openSecretFile(folder.path);
    await store.set("a", "1");
    await rm(join(folder.path, "secrets.key"));
    const attempts = { set: () => store.set("b", "2"), remove: () => store.remove("a"), list: () => store.list() };
    await expectRefusal(attempts[method](), { code: "internal", message: /is missing or wrong/ });
    expect(await readdir(folder.path)).toEqual([expect.stringMatching(/^secrets[.]json[.]corrupt-/)]);
  });

  test("put back with its key, a store that was set aside is whole again", async () => {
    await using folder = await temporaryFolder();
    const store = openSecretFile(folder.path);
    await store.set("a", "1");
    await rename(join(folder.path, "secrets.key"), join(folder.path, "backup"));
    await expect(store.get("a")).rejects.toThrow("missing");
    const [aside = ""] = (await readdir(folder.path)).filter((name) => name.includes(".corrupt-"));
    await rename(join(folder.path, aside), join(folder.path, "secrets.json"));
    await rename(join(folder.path, "backup"), join(folder.path, "secrets.key"));
    expect(await store.get("a")).toBe("1");
  });
});

test("a damaged key without secrets is set aside, and a new one made", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "secrets.key"));
  const store = openSecretFile(folder.path);
  expect(await store.list()).toEqual([]);
  await store.set("a", "1");
  expect(await store.get("a")).toBe("1");
  expect((await readdir(folder.path)).filter((name) => name.startsWith("secrets.key.corrupt-"))).toHaveLength(1);
});
