import { expect, test } from "vitest";
import * as gemini from "../../src/gemini/index.ts";

const { HostError } = gemini;
/** These read the files of the person who runs the tests. `trusted-folders.test.ts` tests them. */
const reads = new Set(["loadTrustedFolders", "isWorkspaceTrusted"]);
const callable = Object.entries(gemini).filter(([name, value]) => typeof value === "function" && !reads.has(name));
const lists: readonly (readonly unknown[])[] = [
  [],
  [undefined],
  [null],
  [5],
  ["x"],
  [{}],
  [[]],
  ["x", null],
  ["x", {}, 5],
];

type Made = (...list: readonly unknown[]) => unknown;

/** Calls a function, or creates an object, and returns what was thrown. */
async function thrown(value: Made, list: readonly unknown[]): Promise<unknown> {
  try {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    await (isClass ? (Reflect.construct(value, list) as unknown) : value(...list));
    return undefined;
  } catch (error) {
    return error;
  }
}

test.each(callable)("%s never ends in a TypeError", async (name, value) => {
  for (const list of lists) {
    const error = await thrown(value as Made, list);
    if (error === undefined || name === "HostError") continue;
    expect(error, `${name}(${JSON.stringify(list).slice(1, -1)})`).toBeInstanceOf(HostError);
    expect(error).toMatchObject({ code: "usage", message: expect.stringMatching(/"[^"]+" must be /) });
  }
});

test("neither do the methods of the registries, the permissions and the helper", async () => {
  const calls: readonly (() => unknown)[] = [
    () => new gemini.ToolRegistry().registerTool(undefined as never),
    () => new gemini.PromptRegistry().registerPrompt({} as never),
    () => new gemini.MCPPermissionManager().setServerPermissions("s", undefined as never),
    () => new gemini.MCPPermissionManager().denyToolGlobally(5 as never),
    () => new gemini.MCPPermissionManager().createSecureTool(undefined as never),
    () => gemini.MCPToolTestHelper.testToolExecution(undefined as never, {}),
    () => gemini.MCPToolTestHelper.createTestTool(5 as never),
  ];
  for (const call of calls) expect(await thrown(call, [])).toMatchObject({ name: "HostError", code: "usage" });
});
