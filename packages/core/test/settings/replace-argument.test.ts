import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { replaceArgument } from "../../src/settings/edit.ts";

const change = { at: 1, before: "pkg", after: "pkg@1.2.3" };

test.each([
  [
    '{"mcpServers":{"a":{"command":"npx","args":["-y","pkg"]}}}',
    '{"mcpServers":{"a":{"command":"npx","args":["-y","pkg@1.2.3"]}}}',
  ],
  [
    '\ufeff{\r\n\t"mcpServers": { "a": { "args": ["-y", /* pkg */ "p\\u006bg", "pkg"] } }, // pkg\r\n}',
    '\ufeff{\r\n\t"mcpServers": { "a": { "args": ["-y", /* pkg */ "pkg@1.2.3", "pkg"] } }, // pkg\r\n}',
  ],
])("one argument changes and nothing else: %j", async (text, changed) => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", text);
  const { replaced } = await replaceArgument(file, "a", change);
  expect(await folder.read("settings.json")).toBe(changed);
  expect(replaced).toMatchObject({ args: expect.arrayContaining(["pkg"]) });
});

test.each([
  ["", "has changed since Fairlead read it"],
  ["{}", "has changed since Fairlead read it"],
  ['{"mcpServers":{"a":{"args":["pkg","-y"]}}}', "has changed since Fairlead read it"],
  ['{"mcpServers":{"a":{"args":["-y"]}}}', "has changed since Fairlead read it"],
  ['{"mcpServers":{"__proto__":{"args":["-y","pkg"]}}}', "has changed since Fairlead read it"],
  ['{"mcpServers":[]}', '"mcpServers" must be an object'],
  ['{"mcpServers":{', "the file was not changed"],
])("a file that says something else stays as it is: %j", async (text, message) => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", text);
  await expect(replaceArgument(file, "a", change)).rejects.toThrow(message);
  expect(await folder.read("settings.json")).toBe(text);
});
