import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Model } from "@fairlead/core/model/model";
import { createScriptedModel } from "@fairlead/core/model/scripted";
import { temporaryFolder } from "@fairlead/test-servers";
import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { linkPackages, typeCheck } from "../support/type-check.ts";

const page = readFileSync(new URL("../../../../docs/models.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));
const programs = blocks.filter(({ language }) => language === "ts").map(({ text }) => text);
const own = programs.find((text) => text.includes("const model: Model")) ?? "";

type RequiredMember<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

test("docs/models.md names exactly the members that a model needs", () => {
  const members: Record<RequiredMember<Model>, true> = {
    provider: true,
    name: true,
    dialect: true,
    maxDeclarations: true,
    stream: true,
  };
  const table = /\| member \| meaning \|\n([\s\S]*?)\n\n/.exec(page)?.[1] ?? "";
  expect([...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(Object.keys(members));
});

test("the programs in docs/models.md compile, and the model of one's own calls a tool", async () => {
  await using folder = await temporaryFolder();
  await linkPackages(folder);
  const names = programs.map((_, at) => `program${at}.ts`);
  for (const [at, text] of programs.entries()) await folder.write(names[at] ?? "", text);
  expect(programs.length).toBeGreaterThan(1);
  expect(await typeCheck(folder, ...names)).toBe("");
  const { code } = transformSync(own, { loader: "ts", format: "esm" });
  await folder.write("own.mjs", code);
  const env = { PATH: process.env["PATH"], HOME: folder.path };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder.path, "own.mjs")], { env });
  expect(stdout).toMatch(/Hello, Ada!.*\(with instructions\)/s);
});

test("the script in docs/models.md is a script", async () => {
  const script = blocks.find(({ language }) => language === "jsonl")?.text ?? "";
  const model = createScriptedModel({ script });
  const { signal } = new AbortController();
  const events = [];
  const said = { role: "user" as const, parts: [{ text: "Greet Ada" }] };
  for await (const event of model.stream([said], [], signal)) events.push(event.type);
  const functionResponse = { name: "demo__greet", response: { output: "Hello" } };
  for await (const event of model.stream([{ role: "user", parts: [{ functionResponse }] }], [], signal))
    events.push(event.type);
  expect(events).toEqual(["text", "call", "finish", "text", "finish"]);
});
