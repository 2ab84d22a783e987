import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkDocPaths } from "../../checks/doc-paths.mjs";
import { planted } from "./planted.mjs";

/** Returns the violations in a page about a package with one source file. */
async function found(page, text) {
  const files = { "core/src/auth/sign-in.ts": "", "core/README.md": "" };
  const { violations } = await planted(files, async (folder) => {
    await writeFile(join(folder, "ARCHITECTURE.md"), "| `core/src/auth/` | sign-in |\n");
    await writeFile(join(folder, page), `| \`core/src/auth/\` | sign-in |\n${text}\n`);
    return checkDocPaths(folder);
  });
  return violations;
}

test.each([
  ["from the root", "`packages/core/src/auth/sign-in.ts`"],
  ["from packages/", "`core/src/auth/sign-in.ts`, a folder `core/src/auth/`"],
  ["from the sources of a package, in a picture", "```\ndecide  auth/sign-in.ts\n```"],
  ["as a link", "[sign-in](packages/core/src/auth/sign-in.ts#L1) [site](https://example.com/a/b.ts)"],
  ["as a pattern", "`core/src/auth/read-*.ts`, `docs/adr/NNNN-<title>.md`"],
])("a path that exists, or is none, is left alone: %s", async (_, text) => {
  expect(await found("CONTRIBUTING.md", text)).toEqual([]);
});

test.each(["core/src/auth/signin.ts", "auth/oauth/", "scripts/nothing.mjs"])(
  "a path that does not exist is found: %s",
  async (path) => {
    expect(await found("ARCHITECTURE.md", `Look at \`${path}\`.`)).toEqual([`ARCHITECTURE.md: ${path} does not exist`]);
    expect(await found("CONTRIBUTING.md", `Look at ${path}.`)).toEqual([`CONTRIBUTING.md: ${path} does not exist`]);
  },
);

test("a link that leads nowhere is found on every page; other pages may name any path", async () => {
  expect(await found("README.md", "[a](docs/a.md#b), `docs/b.md`")).toEqual([
    "README.md: the link to docs/a.md leads nowhere",
  ]);
});

test("a file that a folder's line names and that is not in the folder is found", async () => {
  const violations = await found("ARCHITECTURE.md", "| `core/src/auth/` | `sign-in.ts`, `sign-out.ts` |");
  expect(violations).toEqual(["ARCHITECTURE.md: core/src/auth/sign-out.ts does not exist"]);
});

test("a source folder without its line in ARCHITECTURE.md is found", async () => {
  const check = async (folder) => {
    await writeFile(join(folder, "ARCHITECTURE.md"), "`wire/src/rpc/` is mentioned, but has no line\n");
    return checkDocPaths(folder);
  };
  for (const file of ["rpc.ts", "rpc.mjs", "rpc.sh"])
    expect((await planted({ [`wire/src/rpc/${file}`]: "" }, check)).violations).toEqual([
      "ARCHITECTURE.md: no line about wire/src/rpc/",
    ]);
});
