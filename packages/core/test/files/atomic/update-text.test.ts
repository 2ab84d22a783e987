import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, readdir, readlink, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { updateText } from "../../../src/files/atomic/update-text.ts";
import { limits } from "../../../src/limits.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";

const append = (text: string | undefined) => `${text ?? ""}x`;

test("a file is written, and its new text is what comes in next time", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "settings.json");
  expect(await updateText(file, append)).toBe("written");
  expect(await updateText(file, append)).toBe("written");
  expect(await folder.read("settings.json")).toBe("xx");
  expect(await readdir(folder.path)).toEqual(["settings.json"]);
});

test.each([
  ["undefined", () => undefined],
  ["the same text", (text: string | undefined) => text],
])("a change that gives %s does not touch the file", async (_, change) => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", "{}");
  const before = await stat(file);
  expect(await updateText(file, change)).toBe("unchanged");
  const { ino, mtimeMs } = await stat(file);
  expect({ ino, mtimeMs }).toEqual({ ino: before.ino, mtimeMs: before.mtimeMs });
});

test("missing folders are made for a new file, but not for none", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "project", ".gemini", "settings.json");
  expect(await updateText(file, () => undefined)).toBe("unchanged");
  expect(await readdir(folder.path)).toEqual([]);
  expect(await updateText(file, append)).toBe("written");
  expect(await folder.read("project/.gemini/settings.json")).toBe("x");
});

test("twenty edits at once in one process all survive", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "settings.json");
  await Promise.all(Array.from({ length: 20 }, () => updateText(file, append)));
  expect(await folder.read("settings.json")).toBe("x".repeat(20));
});

test("what a program without our lock writes in between is not lost", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", "one\n");
  let calls = 0;
  const { writeFileSync } = await import("node:fs");
  await updateText(file, (text) => {
    calls += 1;
    if (calls === 1) writeFileSync(file, "one, and an editor's\n");
    return `${text}ours\n`;
  });
  expect({ calls, text: await folder.read("settings.json") }).toEqual({
    calls: 2,
    text: "one, and an editor's\nours\n",
  });
});

test("a file that another program keeps changing is left to it", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", "");
  const { appendFileSync } = await import("node:fs");
  const update = updateText(file, (text) => {
    appendFileSync(file, "theirs\n");
    return `${text}ours\n`;
  });
  await expectRefusal(update, { code: "busy", message: file });
  expect(await folder.read("settings.json")).toMatch(/^(theirs\n)+$/);
});

describe("mode and links", () => {
  test.each([
    [0o600, 0o600],
    [0o644, 0o644],
    [0o640, 0o640],
  ])("a file of mode %o keeps it", async (mode, expected) => {
    await using folder = await temporaryFolder();
    const file = await folder.write("settings.json", "");
    await chmod(file, mode);
    await updateText(file, append, { mode: 0o666 });
    expect((await stat(file)).mode & 0o777).toBe(expected);
  });

  test("a new file gets the mode asked for, or what the umask leaves", async () => {
    await using folder = await temporaryFolder();
    const [plain, secret] = [join(folder.path, "plain"), join(folder.path, "secret")];
    await updateText(plain, append);
    await updateText(secret, append, { mode: 0o600 });
    await writeFile(join(folder.path, "by hand"), "");
    expect((await stat(plain)).mode).toBe((await stat(join(folder.path, "by hand"))).mode);
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
  });

  test("a symbolic link stays one, and its target is written", async () => {
    await using folder = await temporaryFolder();
    await folder.write("dotfiles/gemini.json", "old ");
    await mkdir(join(folder.path, "home"));
    const link = join(folder.path, "home", "settings.json");
    await symlink("../dotfiles/gemini.json", link);
    await updateText(link, append);
    expect(await readlink(link)).toBe("../dotfiles/gemini.json");
    expect(await folder.read("dotfiles/gemini.json")).toBe("old x");
    expect(await readdir(join(folder.path, "home"))).toEqual(["settings.json"]);
  });

  test("the target of a link need not exist, but its folder must: a link makes none", async () => {
    await using folder = await temporaryFolder();
    const link = join(folder.path, "settings.json");
    await symlink("dotfiles/new.json", link);
    await expectRefusal(updateText(link, append), {
      code: "internal",
      message: `the folder ${join(folder.path, "dotfiles")} does not exist`,
    });
    expect(await readdir(folder.path)).toEqual(["settings.json"]);
    await mkdir(join(folder.path, "dotfiles"));
    await updateText(link, append);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await folder.read("dotfiles/new.json")).toBe("x");
  });

  test("a folder that is a link to nothing is said to be so", async () => {
    await using folder = await temporaryFolder();
    await symlink("nothing", join(folder.path, ".gemini"));
    await expectRefusal(updateText(join(folder.path, ".gemini/settings.json"), append), {
      code: "internal",
      message: `${join(folder.path, ".gemini")} cannot be written: it is a symbolic link whose target does not exist`,
    });
    expect(await readdir(folder.path)).toEqual([".gemini"]);
  });

  test("a link below a linked folder leads where the system says, not where the text of the path says", async () => {
    await using folder = await temporaryFolder();
    await folder.write("real/deep/inside/x", "");
    await symlink(join(folder.path, "real/deep/inside"), join(folder.path, "short"));
    await symlink("../target.json", join(folder.path, "real/deep/inside/settings.json"));
    await updateText(join(folder.path, "short/settings.json"), append);
    expect(await folder.read("real/deep/target.json")).toBe("x");
  });

  test("links in a circle are refused", async () => {
    await using folder = await temporaryFolder();
    const link = join(folder.path, "a");
    await symlink("b", link);
    await symlink("a", join(folder.path, "b"));
    await expectRefusal(updateText(link, append), { code: "internal", message: /circle/ });
  });
});

describe("a file that must lie within a folder", () => {
  /** Below the root: what is a link, and to what. */
  const links: readonly [what: string, link: string, target: string, file: string, found: string][] = [
    ["its folder is a link", ".gemini", "../home/.gemini", ".gemini/settings.json", "home/.gemini/settings.json"],
    ["it is a link", "settings.json", "../home/new.json", "settings.json", "home/new.json"],
    ["its folder would be made behind a link", "a", "../home", "a/b/settings.json", "home/b/settings.json"],
    ["it is a link to where nothing is", "settings.json", "../new/x.json", "settings.json", "new/x.json"],
  ];
  test.each(links)("is not written outside, where %s", async (_what, link, target, path, found) => {
    await using folder = await temporaryFolder();
    await folder.write("home/.gemini/settings.json", "mine");
    const root = join(folder.path, "root");
    await mkdir(root);
    await symlink(target, join(root, link));
    const before = await readdir(folder.path, { recursive: true });
    const file = join(root, path);
    await expectRefusal(updateText(file, append, { within: root }), {
      code: "denied",
      message: `${file} leads to ${join(folder.path, found)}, which is outside ${root}; nothing was written`,
    });
    expect(await readdir(folder.path, { recursive: true })).toEqual(before);
    expect(await folder.read("home/.gemini/settings.json")).toBe("mine");
  });

  test("may be reached by links that stay inside, and be new", async () => {
    await using folder = await temporaryFolder();
    await folder.write("root/config/here.json", "old ");
    const root = join(folder.path, "root");
    await symlink("config", join(root, ".gemini"));
    await symlink("here.json", join(root, "config/settings.json"));
    await updateText(join(root, ".gemini/settings.json"), append, { within: root });
    await updateText(join(root, "new/settings.json"), append, { within: root });
    expect(await folder.read("root/config/here.json")).toBe("old x");
    expect(await folder.read("root/new/settings.json")).toBe("x");
  });
});

describe("what cannot be written says so and stays whole", () => {
  test("a file marked as read-only", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write("settings.json", "old");
    await chmod(file, 0o444);
    await expectRefusal(updateText(file, append), {
      code: "internal",
      message: `${file} cannot be written: it is marked as read-only; Fairlead did not change it`,
      next: `Make sure that ${file} can be written, then try again.`,
    });
    expect(await folder.read("settings.json")).toBe("old");
    expect(await readdir(folder.path)).toEqual(["settings.json"]);
  });

  test("a folder in its place", async () => {
    await using folder = await temporaryFolder();
    await folder.write("settings.json/inside", "old");
    await expectRefusal(updateText(join(folder.path, "settings.json"), append), {
      code: "internal",
      message: /it is a folder, not a file/,
    });
  });

  test("a file where a folder should be", async () => {
    await using folder = await temporaryFolder();
    await folder.write(".gemini", "old");
    await expectRefusal(updateText(join(folder.path, ".gemini", "settings.json"), append), {
      code: "internal",
      message: /a part of its path is a file/,
    });
    expect(await folder.read(".gemini")).toBe("old");
  });

  test("a file that is not text", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "settings.json");
    await writeFile(file, Buffer.from([0x7b, 0xff, 0x7d]));
    await expectRefusal(updateText(file, append), { code: "internal", message: /not valid UTF-8/ });
  });

  test("a text that would be too large to be read again", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write("settings.json", "old");
    const update = updateText(file, () => "x".repeat(limits.settingsBytes + 1));
    await expectRefusal(update, { code: "too_large", message: file });
    expect(await folder.read("settings.json")).toBe("old");
  });

  test("what the change throws comes out as it is, and the lock is free again", async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write("settings.json", "old");
    const refusal = new RangeError("no");
    const update = updateText(file, () => {
      throw refusal;
    });
    await expect(update).rejects.toBe(refusal);
    expect(await readdir(folder.path)).toEqual(["settings.json"]);
    expect(await updateText(file, append)).toBe("written");
  });
});

test("of the temporary files beside the file, those that dead writers of this file left are removed, no others", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", "old");
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  const dead = child.pid;
  const kept = [
    `settings.json.fairlead-${process.pid}-recent.tmp`,
    `settings.json.fairlead-${dead}-abc.tmp.bak`,
    `other.json.fairlead-${dead}-abc.tmp`,
    "settings.json.1234567890",
    "settings.json.bak",
    "settings.json.tmp",
  ];
  const old = `settings.json.fairlead-${process.pid}-old.tmp`;
  for (const name of [...kept, old, `settings.json.fairlead-${dead}-abc.tmp`]) await folder.write(name, "half");
  await utimes(join(folder.path, old), 0, 0);
  // Not a temporary file of Fairlead, only its name: it must not block the write either.
  kept.push(`settings.json.fairlead-${dead}-folder.tmp`);
  await mkdir(join(folder.path, `settings.json.fairlead-${dead}-folder.tmp`));
  await updateText(file, append);
  expect((await readdir(folder.path)).sort()).toEqual([...kept, "settings.json"].sort());
});
