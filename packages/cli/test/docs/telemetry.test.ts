/** docs/telemetry.md: its command with its receiver, its settings, and its lists of names. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { readPage, stepsOf } from "../support/page.ts";

const page = readPage("telemetry.md");
const root = new URL("../../../../", import.meta.url);

test("the receiver prints what the command sends", async () => {
  const [step] = stepsOf("telemetry.md");
  const [, printed = ""] = /it prints\n\n```text\n([\s\S]*?)```/.exec(page) ?? [];
  const [variable = "", , ...words] = step?.line.split(" ") ?? [];
  expect([variable, step?.shown]).toEqual(["OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318", ["Hello, Ada!"]]);
  await using here = await machine();
  const example = new URL("docs/examples/collector.mjs", root).pathname;
  const receiver = spawn(process.execPath, [example, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(receiver, "close");
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  try {
    const address = /^listening: (.*)$/.exec(String((await lines.next()).value))?.[1] ?? "";
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    expect(await here.runWith({ env }, ...words)).toEqual({ code: 0, stdout: "Hello, Ada!\n", stderr: "" });
    const expected = printed.trimEnd().split("\n");
    const got: unknown[] = [];
    while (got.length < expected.length) got.push((await lines.next()).value);
    expect(got).toEqual(expected);
  } finally {
    receiver.kill();
    await ended;
  }
});

test("its settings are settings", async () => {
  const [, settings = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  await using here = await machine({ [userFile]: settings });
  expect(await here.run("settings", "validate")).toMatchObject({ code: 0 });
});

/** The files of core and of the command that make spans, as text. */
function sources(): string {
  const folder = new URL("packages/core/src/telemetry/", root);
  return readdirSync(folder)
    .map((name) => readFileSync(new URL(name, folder), "utf8"))
    .join("\n");
}

test("it lists every variable, attribute and metric of the code", () => {
  const names = [...sources().matchAll(/"((?:fairlead|mcp|gen_ai|rpc|jsonrpc|network|server)\.[a-z_.]+)"/g)];
  expect(names.length).toBeGreaterThan(30);
  for (const [, name = ""] of names) expect(page).toContain(name);
  for (const [, name = ""] of sources().matchAll(/"(OTEL_[A-Z_]+)"/g))
    expect(page).toContain(name.replace(/^OTEL_EXPORTER_OTLP_(?=METRICS_)/, "…_"));
});
