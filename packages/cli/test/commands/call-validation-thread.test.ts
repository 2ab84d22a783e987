import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { runProcess } from "../support/process.ts";

test("the built command finds the thread that checks arguments of a recursive schema", async () => {
  await using here = await machine();
  const node = { type: "object", required: ["name"], properties: { children: { items: { $ref: "#/$defs/node" } } } };
  const inputSchema = { type: "object", properties: { root: { $ref: "#/$defs/node" } }, $defs: { node } };
  await here.write("tools.json", [{ name: "plant", inputSchema }]);
  await here.write(userFile, { mcpServers: { garden: stdioServer("catalog", join(here.path, "tools.json")) } });

  const args = JSON.stringify({ root: { name: "oak", children: [{ name: "branch" }, {}] } });
  const { code, stderr } = await runProcess(here, "call", "garden.plant", "--args", args);
  expect(stderr).toContain("root.children[1].name");
  expect(code).toBe(2);
});
