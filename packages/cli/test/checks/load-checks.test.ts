import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { loadChecks } from "../../src/commands/test.ts";

test("the user names a file of checks relative to the current folder", async () => {
  await using folder = await temporaryFolder();
  await folder.write("checks/a.yaml", "server: demo\nchecks: []\n");
  const { path, file } = await loadChecks("checks/a.yaml", folder.path);
  expect(path).toBe(join(folder.path, "checks/a.yaml"));
  expect(file).toMatchObject({ target: { server: "demo" }, checks: [] });
});

test("the user learns why a file of checks cannot be read", async () => {
  await using folder = await temporaryFolder();
  const error = async (word: string): Promise<unknown> =>
    loadChecks(word, folder.path).then(
      () => undefined,
      ({ code, message, next }: { code: string; message: string; next?: string }) => ({ code, message, next }),
    );
  const missing = join(folder.path, "missing.yaml");
  expect(await error("missing.yaml")).toEqual({
    code: "not_found",
    message: `the file of checks ${missing} does not exist`,
    next: "fairlead test --help",
  });
  await folder.write("bad.yaml", "a: [\n");
  const bad = join(folder.path, "bad.yaml");
  expect(await error("bad.yaml")).toMatchObject({
    code: "usage",
    message: expect.stringMatching(new RegExp(`^${bad} cannot be read: [^\n]*[^\n:]$`)),
  });
  const aliases = Array.from({ length: 101 }, () => "*a").join(", ");
  await folder.write("aliases.yaml", `a: &a [x, x]\nb: &b [${aliases}]\nc: [*b, *b]\n`);
  expect(await error("aliases.yaml")).toMatchObject({
    code: "usage",
    message: expect.stringContaining("alias"),
  });
});
