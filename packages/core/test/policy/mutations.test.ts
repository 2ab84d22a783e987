import { isDeepStrictEqual } from "node:util";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { asked, desk, question } from "../support/consent-desk.ts";

const approved = {
  name: "pay",
  title: "Pay",
  description: "Pays an amount to somebody.",
  inputSchema: {
    type: "object",
    properties: {
      amount: { type: "number", minimum: 0, description: "In euros." },
      to: { type: "string", enum: ["ada", "bob"], default: "ada" },
      options: { type: "object", properties: { urgent: { type: "boolean" } }, additionalProperties: false },
    },
    required: ["amount", "to"],
    $defs: { unused: { anyOf: [{ type: "null" }, { const: 1 }] } },
  },
  outputSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  annotations: { readOnlyHint: false, destructiveHint: true, title: "Pay" },
} satisfies CatalogTool;

const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>("Pays an amount to somebody. ", "Pay\u200b", "Рay", "", 0, null, [], {}, "number", true),
);
/** One change somewhere: chosen by numbers, so that fast-check can make it smaller. */
const changes = fc.record({
  path: fc.array(fc.nat(20), { maxLength: 6 }),
  key: fc.oneof(fc.string(), fc.constantFrom("type", "description", "title", "__proto__", "required", "annotations")),
  value: values,
  how: fc.constantFrom("put", "drop", "edit"),
});
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;

function mutate(node: unknown, change: Change, [step, ...rest]: readonly number[]): unknown {
  const entries: [string, unknown][] = typeof node === "object" && node !== null ? Object.entries(node) : [];
  const { how, key, value } = change;
  if (step === undefined || entries.length === 0) {
    if (how === "edit" || entries.length === 0) return value;
    return rebuilt(node, how === "put" ? [...entries, [key, value]] : entries.slice(1));
  }
  const at = step % entries.length;
  return rebuilt(
    node,
    entries.map(([name, member], index) => [name, index === at ? mutate(member, change, rest) : member]),
  );
}

function rebuilt(node: unknown, entries: readonly (readonly [string, unknown])[]): unknown {
  return Array.isArray(node) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

function isTool(value: unknown): value is CatalogTool {
  return (
    typeof value === "object" && value !== null && "name" in value && value.name === "pay" && "inputSchema" in value
  );
}

test("whatever changes in an approved definition, it is approved no more, whether or not the old one is still known", async () => {
  await using at = await desk();
  const pay = asked("bank", "pay");
  at.marks.see("bank", [approved]);
  await question(at.ask(pay, {})).onConfirm(ToolConfirmationOutcome.ProceedAlwaysAndSave);
  let tried = 0;
  fc.assert(
    fc.property(changes, (change) => {
      const changed: unknown = JSON.parse(JSON.stringify(mutate(approved, change, change.path)));
      fc.pre(isTool(changed) && !isDeepStrictEqual(changed, approved) && touchesDefinition(changed));
      tried += 1;
      at.marks.see("bank", [changed]);
      expect(at.verdict(pay).rule.origin.name).toBe("changed");
      at.marks.forget("bank");
      at.marks.see("bank", [changed]);
      expect(at.verdict(pay).rule.origin.name).toBe("tools");
      at.marks.forget("bank");
      at.marks.see("bank", [approved]);
      expect(at.verdict(pay).decision).toBe("allow");
    }),
    { numRuns: scaled(10_000, 300), seed: seed() },
  );
  expect(tried).toBe(scaled(10_000, 300));
});

/** Icons and the like are no part of it. */
function touchesDefinition(tool: CatalogTool): boolean {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return !isDeepStrictEqual(
    JSON.parse(JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations })),
    approved,
  );
}
