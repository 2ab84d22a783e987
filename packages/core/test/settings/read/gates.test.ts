import { expect, test } from "vitest";
import { createWorld } from "../../support/load-settings.ts";

test("everything that a setting closes is told with its line; of a person's own lists for a server the strongest counts", async () => {
  await using world = await createWorld();
  await world.writeDefaults('{"fairlead": {"permissions": {"servers": {"a": ["0"]}}}}');
  await world.writeUser(`{
    "mcp": {"excluded": ["x",
      "__proto__"]},
    "fairlead": {"permissions": {"denyTools": "lonely", "servers": {
      "a": ["1"],
      "b": "wrong"}}}
  }`);
  await world.writeWorkspace(`{"fairlead": {"permissions": {"denyTools": ["w", 7],
    "servers": {"a": ["2"]}}}}`);
  const user = { scope: "user", file: world.userFile };
  const workspace = { scope: "workspace", file: world.workspaceFile };
  const own = [
    { setting: "mcp.excluded", origin: { ...user, line: 2, column: 26 }, server: "x" },
    { setting: "mcp.excluded", origin: { ...user, line: 3, column: 7 }, server: "__proto__" },
    { setting: "fairlead.permissions.denyTools", origin: { ...user, line: 4, column: 47 }, tools: { only: "lonely" } },
  ];
  const ofServers = [
    {
      setting: "fairlead.permissions.servers.a",
      origin: { ...user, line: 5, column: 7 },
      server: "a",
      tools: { allBut: ["1"] },
    },
    {
      setting: "fairlead.permissions.servers.b",
      origin: { ...user, line: 6, column: 7 },
      server: "b",
      tools: { allBut: [] },
    },
  ];
  expect((await world.load({ trusted: false })).gates).toEqual([...own, ...ofServers]);
  expect((await world.load()).gates).toEqual([
    ...own,
    { setting: "fairlead.permissions.denyTools", origin: { ...workspace, line: 1, column: 45 }, tools: { only: "w" } },
    ...ofServers,
    {
      setting: "fairlead.permissions.servers.a",
      origin: { ...workspace, line: 2, column: 17 },
      server: "a",
      tools: { allBut: ["2"] },
    },
  ]);
});
