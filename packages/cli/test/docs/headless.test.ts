import { expect, test } from "vitest";
import { addToReport, emptyReport, reportDocument, toEventLine } from "../../src/headless/report.ts";
import { readPage, runSteps, stepsOf } from "../support/page.ts";
import { failure, wholeTurn } from "../support/turn-events.ts";

const page = readPage("headless.md");

test("every command of docs/headless.md works as it stands, and prints what is shown", async () => {
  const steps = stepsOf("headless.md");
  expect(steps.length).toBeGreaterThan(3);
  await runSteps(steps);
});

const events = page.slice(page.indexOf("## Events"));

test("every event and every field of it is in the tables", () => {
  for (const event of [...wholeTurn, { type: "error", error: failure } as const]) {
    const { type, ...fields } = toEventLine(event) ?? { type: "start" };
    const row = events.split("\n").find((line) => line.startsWith(`| \`${type}\` |`)) ?? "";
    const where = type === "call" ? page.slice(page.indexOf("A `call` has")) : row;
    for (const field of Object.keys(fields)) expect(where, type).toMatch(new RegExp(`\`${field}[\`? ]`));
  }
});

test("every field of the document is in its table", () => {
  const report = [...wholeTurn, { type: "error", error: failure } as const].reduce(addToReport, emptyReport);
  const model = { provider: "gemini", name: "gemini-2.5-flash" };
  const table = page.slice(page.indexOf("one document"), page.indexOf("## Events"));
  for (const field of Object.keys({ schemaVersion: 1, ...reportDocument({ ...report, model }) }))
    expect(table).toContain(`\`${field}\``);
});
