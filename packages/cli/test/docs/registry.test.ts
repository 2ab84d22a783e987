import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { shellWords } from "../support/page.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../docs/registry.md", import.meta.url)), "utf8");
const [, part = ""] = page.split("## Try it without a network");
const [, registry = ""] = /```json\n([\s\S]*?)```/.exec(part) ?? [];
const [, lines = ""] = /```console\n([\s\S]*?)```/.exec(part) ?? [];

test("the registry in a file of docs/registry.md works as the page says", async () => {
  await using here = await machine({ "project/registry.json": registry });
  const [search = "", add = ""] = lines.trim().split("\n");

  const found = await here.run(...shellWords(search));
  const added = await here.run(...shellWords(add));

  expect([found.code, found.stdout]).toEqual([0, expect.stringContaining("com.example/weather  1.2.0")]);
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining("remote: nothing runs on this machine")]);
  expect(JSON.parse(await here.read(userFile))).toMatchObject({
    mcpServers: { weather: { httpUrl: "https://weather.example.com/mcp" } },
  });
});
