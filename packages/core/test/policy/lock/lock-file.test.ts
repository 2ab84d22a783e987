import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  instructionsDigest,
  type LockedServer,
  type LockFile,
  lockCatalog,
  lockedDigest,
  lockPath,
  lockText,
  parseLock,
  promptDigest,
  promptText,
  readLock,
  refuseNewer,
} from "../../../src/policy/lock/lock-file.ts";
import type { Catalog, CatalogPrompt, CatalogTool } from "../../../src/server/catalog.ts";
import { definitionDigest } from "../../../src/server/tool-changes.ts";
import { anyCharacter } from "../../support/any-character.ts";

const file = "/work/.gemini/mcp.lock";

const pay: CatalogTool = { name: "pay", description: "Pays.", inputSchema: { type: "object" } };

function catalogOf(offered: Partial<Catalog>): Catalog {
  const empty = { resources: [], resourceTemplates: [], dropped: [], repaired: [], truncated: [] };
  return { tools: [], prompts: [], ...empty, ...offered };
}

const bank: LockedServer = {
  entry: { command: "npx", args: ["-y", "bank@1.0.0"], env: { Z: "1", A: "2" } },
  ...lockCatalog(
    catalogOf({
      tools: [pay, { ...pay, name: "ask" }],
      prompts: [{ name: "hello", arguments: [] }],
      instructions: "Be kind.",
    }),
    "npm:bank@1.0.0",
  ),
};

const lock: LockFile = new Map([["bank", bank]]);

describe("the text", () => {
  test("is the same for the same servers, in whatever order they come, and ends with a line", () => {
    const turned = new Map([...bank.tools].reverse());
    const other: LockedServer = {
      ...bank,
      tools: turned,
      entry: { env: { A: "2", Z: "1" }, args: ["-y", "bank@1.0.0"], command: "npx" },
    };
    const [one, two] = [
      new Map([
        ["a", bank],
        ["b", bank],
      ]),
      new Map([
        ["b", other],
        ["a", other],
      ]),
    ];
    expect(lockText(two)).toBe(lockText(one));
    expect(lockText(one).endsWith("}\n")).toBe(true);
    expect(lockText(one)).toMatch(/"args": [^}]*"command": "npx",\s*"env": \{\s*"A": "2",\s*"Z": "1"\s*\}/);
  });

  test("has a tool a line, so that a difference shows what is different", () => {
    const [before, after] = [bank, { ...bank, tools: new Map([...bank.tools, ["pay", "another"]]) }].map((server) =>
      lockText(new Map([["bank", server]])).split("\n"),
    );
    const lines = after?.filter((line, at) => line !== before?.[at]) ?? [];
    expect(lines.map((line) => line.trim().split('"')[1])).toEqual(["pay", "checksum"]);
  });

  test("is read as it was written, whatever things are called", () => {
    const name = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom("__proto__", "constructor", "1", "", "a.b"),
    );
    const texts = fc.array(fc.tuple(name, fc.string())).map((pairs) => new Map(pairs));
    const server = fc.record({
      entry: fc.dictionary(name, fc.oneof(fc.string(), fc.array(fc.string()), fc.dictionary(name, fc.string()))),
      version: fc.string(),
      prompts: texts,
      tools: texts,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(name, server)), (servers) => {
        const written = lockText(new Map(servers));
        const read = parseLock(written, file);
        expect([...read.keys()].toSorted()).toEqual([...new Map(servers).keys()].toSorted());
        expect(lockText(read)).toBe(written);
      }),
      { numRuns: scaled(1000), seed: seed() },
    );
  });
});

describe("the digest of a tool", () => {
  test("is what an approval of it is bound to", () => {
    expect(lockedDigest(lock, "bank", "pay")).toBe(definitionDigest(pay));
  });

  test("is none for a tool that a locked server did not have, and nothing where the server is not locked", () => {
    expect(lockedDigest(lock, "bank", "steal")).toBe("none");
    expect(lockedDigest(lock, "bank", "__proto__")).toBe("none");
    expect(lockedDigest(lock, "other", "pay")).toBeUndefined();
  });

  test("has no version and no instructions where there are none", () => {
    const plain = catalogOf({ prompts: [{ name: "hello", arguments: [] }] });
    const prompts = new Map([["hello", promptDigest({ name: "hello", arguments: [] })]]);
    expect(lockCatalog(plain, undefined)).toEqual({ prompts, tools: new Map() });
    expect(lockCatalog({ ...plain, instructions: "" }, "1")).toEqual({
      version: "1",
      instructions: instructionsDigest({ ...plain, instructions: "" }),
      prompts,
      tools: new Map(),
    });
    expect(instructionsDigest(plain)).toBeUndefined();
    expect(instructionsDigest({ ...plain, instructions: "Be kind." })).toBe(bank.instructions);
    expect(bank.instructions).toMatch(/^[0-9a-f]{64}$/);
  });

  test("of a prompt covers all that is shown of it, and nothing else", () => {
    const hello = {
      name: "hello",
      title: "Hello",
      description: "Greets.",
      arguments: [{ name: "who", required: true }],
    };
    expect(promptText(hello)).toBe(
      '{"arguments":[{"name":"who","required":true}],"description":"Greets.","name":"hello","title":"Hello"}',
    );
    expect(promptText({ ...hello, icons: [] } as CatalogPrompt)).toBe(promptText(hello));
  });

  test.each([
    ["a prompt", { prompts: [{ name: "hello", arguments: [{ name: "who", required: true }] }] }],
    ["the instructions", { instructions: "Be rude." }],
    ["a tool", { tools: [{ ...pay, annotations: { readOnlyHint: true } }] }],
  ])("and that of %s differs when what it stands for does", (_what, offered) => {
    const same = catalogOf({ tools: [pay], prompts: [{ name: "hello", arguments: [] }], instructions: "Be kind." });
    expect(lockCatalog({ ...same, ...offered }, "1")).not.toEqual(lockCatalog(same, "1"));
    expect(lockCatalog({ ...same }, "1")).toEqual(lockCatalog(same, "1"));
  });
});

describe("a file that cannot be relied upon", () => {
  const text = lockText(lock);

  test.each([
    ["a digest was changed", text.replace(definitionDigest(pay), "0".repeat(64))],
    ["an argument was changed", text.replace("bank@1.0.0", "bank@6.6.6")],
    ["a server was renamed", text.replace('"bank": {', '"shop": {')],
    ["a tool was taken out", text.replace(/ +"ask": .*\n/, "")],
    ["the checksum was taken out", text.replace(/,\n +"checksum": .*/, "")],
  ])("%s: it says that it was edited by hand, and what to type", (_what, edited) => {
    expect(edited).not.toBe(text);
    expect(() => parseLock(edited, file)).toThrow(
      expect.objectContaining({
        code: "settings_invalid",
        message: expect.stringMatching(
          /^"(bank|shop)" in \/work\/\.gemini\/mcp\.lock does not match its checksum: a person or a merge changed the file$/,
        ) as string,
        serverName: expect.stringMatching(/^(bank|shop)$/) as string,
        next: expect.stringMatching(
          /^Restore the committed file, or lock the server as it is now: fairlead lock update (bank|shop)$/,
        ) as string,
      }) as Error,
    );
  });

  test("a server was taken out, or put in: which there are is a part of what was locked", () => {
    const whole = lockText(new Map([...lock, ["shop", bank]]));
    const document = JSON.parse(whole) as { servers: Record<string, unknown> };
    const { shop: _gone, ...left } = document.servers;
    const edited = JSON.stringify({ ...document, servers: left });
    expect(() => parseLock(edited, file)).toThrow(/a server was added or removed by hand/);
    expect(() => parseLock(text.replace(/,\n {2}"checksum": .*/, ""), file)).toThrow(/added or removed by hand/);
    // To lock that one as it is now puts it right.
    expect(parseLock(edited, file, "shop").has("bank")).toBe(true);
    expect(() => parseLock(edited, file, "bank")).toThrow(/added or removed by hand/);
    const added = JSON.stringify({ ...document, checksum: (JSON.parse(text) as { checksum: string }).checksum });
    expect(() => parseLock(added, file)).toThrow(/added or removed by hand/);
    expect([...parseLock(added, file, "shop").keys()]).toEqual(["bank", "shop"]);
    expect(() => parseLock(added, file, "bank")).toThrow(/added or removed by hand/);
  });

  test("is told with its path, the reason and what to do", () => {
    expect(() => parseLock("no JSON", file)).toThrow(
      expect.objectContaining({
        code: "settings_invalid",
        message: `${file} is not a valid lock file: the file is not JSON`,
        next: "Restore the committed file, or write a new one: fairlead lock",
        cause: expect.any(SyntaxError) as SyntaxError,
      }) as Error,
    );
  });

  test("is a broken symbolic link", async () => {
    await using folder = await temporaryFolder();
    const link = join(folder.path, "mcp.lock");
    await symlink(join(folder.path, "nowhere"), link);
    await expect(readLock(link)).rejects.toMatchObject({
      code: "settings_invalid",
      message: `${link} is not a valid lock file: the file is a broken symbolic link`,
    });
  });

  test("is good enough for what is about to be replaced, and for nothing else", () => {
    const edited = text.replace("bank@1.0.0", "bank@6.6.6");
    expect(parseLock(edited, file, "bank").has("bank")).toBe(true);
    expect(() => parseLock(edited, file, "other")).toThrow(/a person or a merge changed the file/);
  });

  test.each([
    ["", /the file is not JSON/],
    ["<<<<<<< ours\n=======\n>>>>>>> theirs\n", /the file contains merge conflict markers/],
    ["note <<<<<<< ours", /the file is not JSON/],
    ["<<<<<< ours", /the file is not JSON/],
    ['{\n"schemaVersion": 1,\n>>>>>>> theirs\n', /the file contains merge conflict markers/],
    ["[]", /"schemaVersion" must be 1/],
    ['{"schemaVersion":0,"servers":{}}', /"schemaVersion" must be 1/],
    ['{"schemaVersion":"1","servers":{}}', /"schemaVersion" must be 1/],
    ['{"schemaVersion":1}', /is missing or not an object/],
    ["null", /"schemaVersion" must be 1/],
    ['{"schemaVersion":1,"servers":{"s":null}}', /the "entry" of a server is not an object/],
    ['{"schemaVersion":1,"servers":{"s":7}}', /the "entry" of a server is not an object/],
    [
      '{"schemaVersion":1,"servers":{"s":{"entry":{},"version":1,"prompts":{},"tools":{}}}}',
      /or its "version" or "instructions" is not a string$/,
    ],
    [
      '{"schemaVersion":1,"servers":{"s":{"entry":{},"instructions":1,"prompts":{},"tools":{}}}}',
      /or its "version" or "instructions" is not a string$/,
    ],
    [
      '{"schemaVersion":1,"servers":{"s":{"entry":{},"tools":{}}}}',
      /the "prompts", "tools" or "skills" of a server, is missing/,
    ],
    ['{"schemaVersion":1,"servers":{"s":{"entry":{},"prompts":{},"tools":[]}}}', /is missing or not an object/],
    [
      '{"schemaVersion":1,"servers":{"s":{"entry":{},"prompts":{},"tools":{"t":1}}}}',
      /a digest in "prompts", "tools" or "skills" is not a string/,
    ],
    [
      `{"schemaVersion":1,"servers":{"s":{"entry":{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}},"prompts":{},"tools":{}}}}`,
      /./,
    ],
  ])("%j", (written, why) => {
    expect(() => parseLock(written, file)).toThrow(why);
  });

  test("of a newer version is neither read nor written over", () => {
    const newer = '{"schemaVersion":2,"anything":true}';
    const refusal = expect.objectContaining({
      code: "settings_invalid",
      message: `${file} was written by a newer Fairlead: its schemaVersion is 2, this version reads 1`,
      next: "Update Fairlead.",
    }) as Error;
    expect(() => parseLock(newer, file)).toThrow(refusal);
    expect(() => refuseNewer(newer, file)).toThrow(refusal);
    for (const harmless of [text, "no JSON", "[]"]) expect(() => refuseNewer(harmless, file)).not.toThrow();
  });
});

describe("on the disk", () => {
  test("it lies beside the workspace's settings, and nowhere where there is no workspace", () => {
    const files = { user: "/home/.gemini/settings.json", system: undefined, "system-defaults": undefined };
    expect(lockPath({ files: { ...files, workspace: "/work/.gemini/settings.json" } })).toBe(file);
    expect(lockPath({ files: { ...files, workspace: undefined } })).toBeUndefined();
  });

  test("it is there, or not, or cannot be read", async () => {
    await using folder = await temporaryFolder();
    expect(await readLock(join(folder.path, "mcp.lock"))).toBeUndefined();
    expect(await readLock(await folder.write("good.lock", lockText(lock)))).toEqual(lock);
    await mkdir(join(folder.path, "folder.lock"));
    await expect(readLock(join(folder.path, "folder.lock"))).rejects.toThrow(/cannot be read: it is a folder/);
  });
});
