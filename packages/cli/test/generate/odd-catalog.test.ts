import { join } from "node:path";
import { createHost } from "@fairlead/core";
import { HostError } from "@fairlead/core/errors";
import type { CallResult } from "@fairlead/core/execute/executor";
import type { Host } from "@fairlead/core/host";
import { stdioServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { typescriptModule } from "../../src/generate/typescript-module.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { oddTools } from "../support/odd-catalog.ts";
import { linkPackages, typeCheck } from "../support/type-check.ts";

type Client = Readonly<Record<string, (args?: object) => Promise<CallResult>>>;

const methods: ReadonlyMap<string, string> = new Map([
  ["no_schema", "noSchema"],
  ["no-parameters", "noParameters"],
  ["API-search", "apiSearch"],
  ["append_blocks", "appendBlocks"],
  ["update_block", "updateBlock"],
  ["nullable", "nullable"],
  ["variants", "variants"],
  ["__proto__", "proto"],
  ["then", "then_"],
]);
const methodOf = (tool: string): string => methods.get(tool) ?? "";

let here: Machine;
let host: Host;
let client: Client;

beforeAll(async () => {
  here = await machine();
  await linkPackages(here);
  await here.write("odd.json", JSON.stringify(oddTools.map(([tool]) => tool)));
  const odd = stdioServer("echo-catalog", join(here.path, "odd.json"));
  await here.write(userFile, { mcpServers: { odd } });
  const { code, stderr } = await here.run("generate", "ts", "odd", "-o", join(here.path, "odd.ts"));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  host = await createHost({
    settings: { mcpServers: { odd } },
    workspace: false,
    environment: { env: here.env, home: here.home, cwd: here.project, platform: process.platform },
  });
  // Started here, so that no test leaves a process behind.
  await host.start();
  const { createOdd } = (await import(join(here.path, "odd.ts"))) as { createOdd: (host: Host) => Client };
  client = createOdd(host);
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await here[Symbol.asyncDispose]();
});

/** A program that makes these calls; the first is on line 4. */
function program(calls: readonly string[]): string {
  const preamble = [
    'import { createOdd } from "./odd.ts";',
    "declare const host: Parameters<typeof createOdd>[0];",
    "const odd = createOdd(host);",
  ];
  return [...preamble, ...calls, ""].join("\n");
}

describe("a generated client of odd schemas", () => {
  test("type-checks under strict, with three calls of each tool", async () => {
    const calls = oddTools.flatMap(([{ name }, ...samples]) =>
      samples.map((sample) => `await odd.${methodOf(name)}(${JSON.stringify(sample)});`),
    );
    await here.write("calls.ts", program(calls));
    expect(await typeCheck(here, "calls.ts")).toBe("");
  });

  test.each(oddTools)("calls $name three times as it is told", async ({ name }, ...samples) => {
    for (const sample of samples) {
      const { content } = (await client[methodOf(name)]?.(sample)) ?? {};
      expect(content).toEqual([{ type: "text", text: JSON.stringify({ name, args: sample }) }]);
    }
  });

  test("rejects if the tool reports an error, or does not return what its output schema promises", async () => {
    const failed = client["then_"]?.({ fails: true });
    await expect(failed).rejects.toThrow(HostError);
    await expect(failed).rejects.toMatchObject({
      code: "tool_error",
      message: expect.stringContaining('"fails":true'),
    });
    await expect(client["then_"]?.({})).rejects.toMatchObject({ code: "protocol" });
  });

  test("refuses what the schema refuses", async () => {
    const wrong = [
      "await odd.apiSearch({});",
      "await odd.apiSearch({ query: 1 });",
      'await odd.apiSearch({ query: "a", other: 1 });',
      'await odd.variants({ id: "a", shape: { kind: "circle", side: 1 } });',
      "await odd.variants({});",
    ];
    await here.write("wrong.ts", program(wrong));
    const complaints = await typeCheck(here, "wrong.ts");
    expect([...complaints.matchAll(/^wrong[.]ts[(](\d+),/gm)].map(([, line]) => Number(line))).toEqual([4, 5, 6, 7, 8]);
  });
});

test("the same catalog gives the same text, in whatever order it is listed", () => {
  const tools = oddTools.map(([tool]) => tool as never);
  const text = typescriptModule([{ name: "odd", tools }]);
  expect(typescriptModule([{ name: "odd", tools: tools.toReversed() }])).toBe(text);
});
