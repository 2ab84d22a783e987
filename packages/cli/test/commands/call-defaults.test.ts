/** Required parameters that have a default: the command leaves them to the server. */

import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

const area = {
  type: "object",
  properties: { width: { type: "integer" }, unit: { type: "string", default: "px" } },
  required: ["width", "unit"],
};
const shot = {
  name: "shot",
  inputSchema: {
    type: "object",
    properties: { page: { type: "string" }, scale: { enum: ["css", "device"], default: "css" }, area },
    required: ["page", "scale"],
    additionalProperties: false,
  },
};

let here: Machine;
beforeAll(async () => {
  here = await machine();
  await here.write("tools.json", [shot]);
  await here.write(userFile, { mcpServers: { web: stdioServer("echo-catalog", join(here.path, "tools.json")) } });
});
afterAll(() => here[Symbol.asyncDispose]());

test.each([
  [["web.shot", "page=a"], { page: "a" }],
  [["web.shot", "page=a", "scale=device"], { page: "a", scale: "device" }],
  [["web.shot", "page=a", 'area={"width": 3}'], { page: "a", area: { width: 3 } }],
  [["web.shot(page: 'a')"], { page: "a" }],
])("are sent only if they are given: %j", async (argv, args) => {
  const { code, stdout, stderr } = await here.run("call", ...argv);
  expect({ code, stderr, sent: JSON.parse(stdout) }).toEqual({ code: 0, stderr: "", sent: { name: "shot", args } });
});

test("leave a parameter without a default required", async () => {
  const { code, stderr } = await here.run("call", "web.shot", "scale=css");
  expect([code, stderr.split("\n")[0]]).toEqual([2, 'fairlead: web.shot needs "page"']);
});

test("are optional in the signature, with their default", async () => {
  const { stdout } = await here.run("tools", "web");
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(
    'shot(page: string, scale?: "css" | "device" = "css", area?: {width: integer, unit?: string})',
  );
});

test("are optional in generated types", async () => {
  const { stdout } = await here.run("generate", "ts", "web");
  expect(stdout).toContain("  page: string;");
  expect(stdout).toContain('  scale?: "css" | "device";');
  expect(stdout).toContain("unit?: string;");
});
