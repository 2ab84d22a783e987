import { rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { scaled, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { findRulePath, readTrustedFolders, setFolderTrust, type TrustLevel } from "../../src/trust/trusted-folders.ts";
import { isTrusted, makeFolders, rulesFile } from "../support/trust-rules.ts";

describe("symbolic links", () => {
  // Folders: trusted/, trusted/inner/, outside/. Each row puts one link and one rule, and asks about a real root.
  test.each<{
    what: string;
    link: [at: string, to: string];
    rule: [path: string, level: TrustLevel];
    root: string;
    trusted: boolean;
    reported?: true;
  }>([
    {
      what: "a link inside a trusted folder that leads out",
      link: ["trusted/out", "outside"],
      rule: ["trusted", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
    },
    {
      what: "a rule that names a link",
      link: ["link", "outside"],
      rule: ["link", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
      reported: true,
    },
    {
      what: "a rule that names a link, with a slash behind it",
      link: ["link", "outside"],
      rule: ["link/", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
      reported: true,
    },
    {
      what: "a rule that names a link, with a dot behind it",
      link: ["link", "outside"],
      rule: ["link/.", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
      reported: true,
    },
    {
      what: "TRUST_PARENT of a link",
      link: ["trusted/out", "outside"],
      rule: ["trusted/out", "TRUST_PARENT"],
      root: "trusted",
      trusted: false,
      reported: true,
    },
    {
      what: "TRUST_PARENT where the parent is a link",
      link: ["link", "trusted"],
      rule: ["link/inner", "TRUST_PARENT"],
      root: "trusted",
      trusted: false,
      reported: true,
    },
    {
      what: "a link to a trusted folder, which is judged as that folder",
      link: ["link", "trusted"],
      rule: ["trusted", "TRUST_FOLDER"],
      root: "trusted",
      trusted: true,
    },
    {
      what: "a link further up in a rule's path, as /tmp is on some systems",
      link: ["link", "trusted"],
      rule: ["link/inner", "TRUST_FOLDER"],
      root: "trusted/inner",
      trusted: true,
    },
    {
      what: "a rule that names a link to nowhere",
      link: ["link", "nowhere"],
      rule: ["link", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
      reported: true,
    },
    {
      what: "a rule that names a link to itself",
      link: ["link", "link"],
      rule: ["link", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
      reported: true,
    },
    {
      what: "a rule below a link to itself",
      link: ["link", "link"],
      rule: ["link/x", "TRUST_FOLDER"],
      root: "outside",
      trusted: false,
    },
  ])("$what", async ({ link: [at, to], rule: [path, level], root, trusted, reported }) => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "trusted/inner", "outside");
    await symlink(join(folder.path, to), join(folder.path, at));
    const written = `${folder.path}/${path}`;
    const file = await folder.write(rulesFile, { [written]: level });
    expect(await isTrusted(folder, join(folder.path, root))).toBe(trusted);
    const message = `the rule for "${written}" is ignored: the path is a symbolic link, and trust does not follow links`;
    const problem = {
      severity: "warning",
      code: "settings_invalid",
      message,
      origin: { scope: "user", file, line: 2, column: 3 },
    };
    expect((await readTrustedFolders(file)).problems).toEqual(reported ? [problem] : []);
  });

  test("distrust follows a link to the folder behind it", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "trusted/inner");
    await symlink(join(folder.path, "trusted/inner"), join(folder.path, "link"));
    await folder.write(rulesFile, {
      [join(folder.path, "trusted")]: "TRUST_FOLDER",
      [join(folder.path, "link")]: "DO_NOT_TRUST",
    });
    expect(await isTrusted(folder, join(folder.path, "trusted/inner"))).toBe(false);
  });

  test("a trusted folder that is swapped for a link loses its trust, and gets it back with the folder", async () => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "mine", "evil");
    const mine = join(folder.path, "mine");
    await setFolderTrust(join(folder.path, rulesFile), mine, "TRUST_FOLDER");
    await rename(mine, join(folder.path, "aside"));
    await symlink(join(folder.path, "evil"), mine);
    expect(await isTrusted(folder, join(folder.path, "evil"))).toBe(false);
    await rm(mine);
    await rename(join(folder.path, "aside"), mine);
    expect(await isTrusted(folder, mine)).toBe(true);
  });
});

test("a trusted folder that is swapped for a link and back all the time never lends its trust", async () => {
  await using folder = await temporaryFolder();
  await makeFolders(folder, "mine", "evil");
  const [mine, evil, aside] = [join(folder.path, "mine"), join(folder.path, "evil"), join(folder.path, "aside")];
  await folder.write(rulesFile, { [mine]: "TRUST_FOLDER" });
  const looks: Promise<boolean>[] = [];
  for (let swap = 0; swap < scaled(1000); swap += 1) {
    looks.push(isTrusted(folder, evil));
    await rename(mine, aside);
    await symlink(evil, mine);
    looks.push(isTrusted(folder, evil));
    await rm(mine);
    await rename(aside, mine);
  }
  expect(new Set(await Promise.all(looks))).toEqual(new Set([false]));
  expect(await isTrusted(folder, mine)).toBe(true);
});

test.each(["folder", "parent", "nothing"] as const)(
  "the path of a rule about a folder that is gone, trusting %s",
  async (trusts) => {
    await using folder = await temporaryFolder();
    await makeFolders(folder, "there");
    expect(await findRulePath(join(folder.path, "gone/inner"), trusts)).toEqual({ kind: "gone" });
    const real = trusts === "parent" ? folder.path : join(folder.path, "there");
    expect(await findRulePath(join(folder.path, "there"), trusts)).toEqual({ kind: "folder", real });
  },
);
