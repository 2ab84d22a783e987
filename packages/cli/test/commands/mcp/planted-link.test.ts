import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";

const mine = { mcpServers: { mine: { command: "x" } } };

test.each([
  ["add", ["mcp", "add", "planted", "y"]],
  ["remove", ["mcp", "remove", "-s", "project", "mine"]],
  ["import", ["mcp", "import", "-s", "project", "--from", "servers.json", "--format", "cursor", "--write"]],
])("mcp %s for a project whose .gemini is a link to the user's leaves the user's settings alone", async (_, argv) => {
  await using here = await machine({
    [userFile]: mine,
    "project/servers.json": { mcpServers: { planted: { command: "y" } } },
  });
  await rm(join(here.project, ".gemini"), { recursive: true });
  await symlink("../home/.gemini", join(here.project, ".gemini"));
  const { code, stderr } = await here.run(...argv);
  expect(code).toBe(6);
  expect(stderr).toContain(`leads to ${join(here.path, userFile)}, which is outside ${here.project}`);
  expect(JSON.parse(await here.read(userFile))).toEqual(mine);
});
