import { execFile } from "node:child_process";
import { rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { scaled, temporaryFolder } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { describe, expect, test } from "vitest";
import { readTrustedFolders, removeFolderTrust, setFolderTrust } from "../../src/trust/trusted-folders.ts";
import { isTrusted, makeFolders, rulesFile } from "../support/trust-rules.ts";

describe("reading", () => {
  test("an absent file has no rules and no problems", async () => {
    await using folder = await temporaryFolder();
    expect(await readTrustedFolders(join(folder.path, rulesFile))).toEqual({ rules: [], problems: [] });
  });

  test("every rule knows where it was written and which real folder it is about", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "a", "b/c");
    const at = (path: string) => JSON.stringify(join(folder.path, path));
    const file = await folder.write(
      rulesFile,
      `// mine\n{\n  ${at("a")}: "TRUST_FOLDER", // the first\n  ${at("b/c/")}: "TRUST_PARENT",\n  ${at("gone")}: "TRUST_FOLDER",\n}\n`,
    );
    const origin = (line: number) => ({ scope: "user", file, line, column: 3 });
    expect(await readTrustedFolders(file)).toEqual({
      rules: [
        { path: join(folder.path, "a"), level: "TRUST_FOLDER", origin: origin(3), effective: join(folder.path, "a") },
        {
          path: join(folder.path, "b/c/"),
          level: "TRUST_PARENT",
          origin: origin(4),
          effective: join(folder.path, "b"),
        },
        { path: join(folder.path, "gone"), level: "TRUST_FOLDER", origin: origin(5) },
      ],
      problems: [],
    });
  });

  test.each([
    ["a syntax error", '{\n  "/": TRUST_FOLDER\n}', 2, 8],
    ["a list", '["/"]', 1, 1],
    ["a text", '"TRUST_FOLDER"', 1, 1],
    ["a file that ends early", '{"/": "TRUST_FOLDER"', 1, 21],
  ])("%s: nothing is trusted, and the place is named", async (_, text, line, column) => {
    await using folder = await temporaryFolder();
    const file = await folder.write(rulesFile, text);
    const { rules, problems } = await readTrustedFolders(file);
    expect(rules).toEqual([]);
    expect(problems).toEqual([
      {
        severity: "error",
        code: "settings_invalid",
        message: expect.stringMatching(/is invalid and trusts no folder: ./) as string,
        origin: { scope: "user", file, line, column },
      },
    ]);
  });

  test("something that is not a file trusts nothing and says so", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, rulesFile);
    expect(await readTrustedFolders(join(folder.path, rulesFile))).toEqual({
      rules: [],
      problems: [
        {
          severity: "error",
          code: "settings_invalid",
          message: `${join(folder.path, rulesFile)} is invalid and trusts no folder: it is a folder, not a file`,
          origin: { scope: "user", file: join(folder.path, rulesFile), line: 1, column: 1 },
        },
      ],
    });
  });

  test("an empty file is a file without rules", async () => {
    await using folder = await temporaryFolder();
    expect(await readTrustedFolders(await folder.write(rulesFile, "// nothing yet\n"))).toEqual({
      rules: [],
      problems: [],
    });
  });

  test.each([".", "work", "./work", "../work", "~/work", "~"])(
    "the relative path %j is ignored and reported",
    async (path) => {
      await using folder = await temporaryFolder();
      const file = await folder.write(rulesFile, { [path]: "TRUST_FOLDER" });
      expect(await readTrustedFolders(file)).toEqual({
        rules: [],
        problems: [
          {
            severity: "error",
            code: "settings_invalid",
            message: `the rule for "${path}" is ignored: the path is not absolute`,
            origin: { scope: "user", file, line: 2, column: 3 },
          },
        ],
      });
    },
  );

  test.each(["trust_folder", "TRUST", "", 1, true, null, {}, ["TRUST_FOLDER"]])(
    "the level %j is reported and counts as distrust, also below a trusted folder",
    async (level) => {
      await using folder = await temporaryFolder();
      await makeFolders(folder, "a/b", "a/c");
      const inner = join(folder.path, "a/b");
      const file = await folder.write(rulesFile, { [join(folder.path, "a")]: "TRUST_FOLDER", [inner]: level });
      expect((await readTrustedFolders(file)).problems).toEqual([
        {
          severity: "error",
          code: "settings_invalid",
          message: `the folder "${inner}" is not trusted: its trust level must be one of TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST`,
          origin: { scope: "user", file, line: 3, column: 3 },
        },
      ]);
      expect([await isTrusted(folder, inner), await isTrusted(folder, join(folder.path, "a/c"))]).toEqual([
        false,
        true,
      ]);
    },
  );

  test("a path written twice counts as distrusted if it is once", async () => {
    await using folder = await temporaryFolder();
    await folder.write(rulesFile, `{ "${folder.path}": "DO_NOT_TRUST", "${folder.path}": "TRUST_FOLDER" }`);
    expect(await isTrusted(folder, folder.path)).toBe(false);
  });

  test("TRUST_PARENT trusts the folder's siblings, and the parent outlives the folder", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "a/b", "a/c", "d");
    await folder.write(rulesFile, { [join(folder.path, "a/b")]: "TRUST_PARENT" });
    const decisions = () =>
      Promise.all(["a", "a/b", "a/c", "d", ""].map((each) => isTrusted(folder, join(folder.path, each))));
    expect(await decisions()).toEqual([true, true, true, false, false]);
    await rm(join(folder.path, "a/b"), { recursive: true });
    expect(await decisions()).toEqual([true, true, true, false, false]);
  });
});

describe("writing", () => {
  test("the first rule makes the file, for the owner's eyes only", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "new/.gemini", rulesFile);
    await setFolderTrust(file, folder.path, "TRUST_FOLDER");
    expect(JSON.parse(await folder.read(`new/.gemini/${rulesFile}`))).toEqual({ [folder.path]: "TRUST_FOLDER" });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("comments, order and unknown rules survive", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write(
      rulesFile,
      `// mine\n{\n\t"/old": "DO_NOT_TRUST", // keep\n\t"${folder.path}": "DO_NOT_TRUST", // was evil\n}\n`,
    );
    await setFolderTrust(file, folder.path, "TRUST_FOLDER");
    expect(await folder.read(rulesFile)).toBe(
      `// mine\n{\n\t"/old": "DO_NOT_TRUST", // keep\n\t"${folder.path}": "TRUST_FOLDER", // was evil\n}\n`,
    );
    expect(await removeFolderTrust(file, folder.path)).toBe(true);
    expect(await folder.read(rulesFile)).toMatch(/^\/\/ mine\n\{\n\t"\/old": "DO_NOT_TRUST", \/\/ keep\n/);
    expect((await readTrustedFolders(file)).rules.map(({ path }) => path)).toEqual(["/old"]);
  });

  test("the real path is written, and replaces every other spelling of the same folder", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "real");
    const real = join(folder.path, "real");
    const link = join(folder.path, "link");
    await symlink(real, link);
    const file = await folder.write(
      rulesFile,
      `{ "${real}/": "DO_NOT_TRUST", "${link}": "DO_NOT_TRUST", "${real}": "DO_NOT_TRUST", "${real}": "DO_NOT_TRUST" }`,
    );
    await setFolderTrust(file, link, "TRUST_FOLDER");
    expect(JSON.parse(await folder.read(rulesFile))).toEqual({ [real]: "TRUST_FOLDER" });
    expect(await isTrusted(folder, real)).toBe(true);
  });

  test("the only rule for the folder is replaced too, if it spells the path in another way", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write(rulesFile, { [`${folder.path}/`]: "DO_NOT_TRUST", "/other": "DO_NOT_TRUST" });
    await setFolderTrust(file, folder.path, "TRUST_FOLDER");
    expect(JSON.parse(await folder.read(rulesFile))).toEqual({
      "/other": "DO_NOT_TRUST",
      [folder.path]: "TRUST_FOLDER",
    });
  });

  test("a rule with a relative path, which has no effect, is about no folder", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write(rulesFile, { ".": "TRUST_FOLDER" });
    expect(await removeFolderTrust(file, process.cwd())).toBe(false);
  });

  test("the rule of a folder that is gone can be removed", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write(rulesFile, { "/gone/long/ago": "TRUST_FOLDER", "/other": "TRUST_FOLDER" });
    expect(await removeFolderTrust(file, "/gone/long/ago/")).toBe(true);
    expect(JSON.parse(await folder.read(rulesFile))).toEqual({ "/other": "TRUST_FOLDER" });
  });

  test("nothing to remove: the file is not touched, nor made", async () => {
    await using folder = await temporaryFolder();
    expect(await removeFolderTrust(join(folder.path, "absent", rulesFile), folder.path)).toBe(false);
    const file = await folder.write(rulesFile, '{"/a":"TRUST_FOLDER"}');
    expect(await removeFolderTrust(file, folder.path)).toBe(false);
    expect(await folder.read(rulesFile)).toBe('{"/a":"TRUST_FOLDER"}');
    await expect(stat(join(folder.path, "absent", rulesFile))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a folder that does not exist cannot be trusted", async () => {
    await using folder = await temporaryFolder();
    const missing = join(folder.path, "missing");
    await expect(setFolderTrust(join(folder.path, rulesFile), missing, "TRUST_FOLDER")).rejects.toMatchObject({
      name: "HostError",
      code: "usage",
      message: `the folder ${missing} does not exist`,
    });
  });

  test.each(['{"/a": "TRUST_FOLDER"', "[]", "TRUST", '{"/a": TRUST_FOLDER}', "null"])(
    "the broken file %j is refused and keeps every byte",
    async (text) => {
      await using folder = await temporaryFolder();
      const file = await folder.write(rulesFile, text);
      const refusal = {
        name: "HostError",
        code: "settings_invalid",
        message: expect.stringMatching(/:1:\d+: .*; the file was not changed$/) as string,
      };
      await expect(setFolderTrust(file, folder.path, "TRUST_FOLDER")).rejects.toMatchObject(refusal);
      await expect(removeFolderTrust(file, folder.path)).rejects.toMatchObject(refusal);
      expect(await folder.read(rulesFile)).toBe(text);
    },
  );

  test("several processes that write at once lose no rule", async () => {
    await using folder = await temporaryFolder();
    const processes = scaled(6, 3);
    const rulesEach = 8;
    const roots = Array.from({ length: processes * rulesEach }, (_, index) => `root-${index}`);
    await makeFolders(folder, ...roots);
    const program = join(folder.path, "writer.cjs");
    buildSync({
      stdin: {
        contents: `import { setFolderTrust } from "./src/trust/trusted-folders.ts";
          const [file, ...roots] = process.argv.slice(2);
          Promise.all(roots.map((root) => setFolderTrust(file, root, "TRUST_FOLDER")));`,
        resolveDir: join(import.meta.dirname, "../.."),
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "cjs",
      mainFields: ["module", "main"],
      logLevel: "error",
    });
    const file = join(folder.path, rulesFile);
    const paths = roots.map((root) => join(folder.path, root));
    const writers = Array.from({ length: processes }, (_, index) =>
      paths.slice(index * rulesEach, (index + 1) * rulesEach),
    );
    await Promise.all(writers.map((share) => promisify(execFile)(process.execPath, [program, file, ...share])));
    expect((await readTrustedFolders(file)).rules.map(({ path }) => path).sort()).toEqual(paths.sort());
  });
});
