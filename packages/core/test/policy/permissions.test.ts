import { expect, test } from "vitest";
import { closedBy } from "../../src/policy/permissions.ts";

const permissions = { servers: new Map([["github", ["get_issue"]]]), denyTools: ["delete_all"] };

test.each([
  ["github", "get_issue", undefined],
  ["github", "create_issue", "fairlead.permissions.servers.github"],
  ["github", "delete_all", "fairlead.permissions.denyTools"],
  ["other", "create_issue", undefined],
  ["other", "delete_all", "fairlead.permissions.denyTools"],
])("%s.%s is closed by %s", (server, tool, setting) => {
  expect(closedBy(permissions, server, tool)).toBe(setting);
});
