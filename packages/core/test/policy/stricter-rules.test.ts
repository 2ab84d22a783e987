import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PolicyEngine } from "../../src/policy/policy-engine.ts";
import { exactName, namePattern } from "../../src/policy/rules/name-pattern.ts";
import type { CheckRequest, DecisionOutcome, PolicyRule } from "../../src/policy/rules/rule.ts";

const decisions: readonly DecisionOutcome[] = ["allow", "ask_user", "deny"];
const strictness = (decision: DecisionOutcome): number => decisions.indexOf(decision);

/** Mostly not: rules that match nothing would prove nothing. */
function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}
const names = fc.constantFrom("a", "b", "__proto__");
const patterns = fc.oneof(names.map(exactName), fc.constantFrom("*", "a*", "?").map(namePattern));
const kinds = fc.constantFrom("tool", "resource", "prompt", "sampling");
const modes = fc.constantFrom("default", "plan", "yolo");
const hints = fc.constantFrom("readOnlyHint", "destructiveHint", "title");
const args = fc
  .constantFrom('"x":1', '"x":2')
  .map((text) => ({ text, matches: (json: string) => json.includes(text) }));

const conditions = fc.record({
  server: maybe(patterns),
  tool: maybe(patterns),
  kind: maybe(kinds),
  argsPattern: maybe(args),
  annotations: maybe(fc.array(fc.tuple(hints, fc.boolean()), { maxLength: 2 }).map((pairs) => new Map(pairs))),
  modes: maybe(fc.uniqueArray(modes, { minLength: 1 })),
  interactive: maybe(fc.boolean()),
});
const speakers = fc.oneof(
  fc.record({
    tier: fc.constantFrom("administrator", "user", "workspace", "conversation", "default"),
    priority: fc.integer({ min: 0, max: 3 }),
    source: fc.constant("policy_file"),
  }),
  fc.record({ tier: fc.constant("user"), priority: fc.constant(-1), source: fc.constant("trust") }),
);
const rules = fc
  .record({
    speaker: speakers,
    conditions,
    decision: fc.constantFrom(...decisions),
    gate: fc.boolean(),
    doubt: fc.nat(9),
  })
  .map(({ speaker: { tier, priority, source }, conditions: when, decision, gate, doubt }): PolicyRule => {
    const said = source === "trust" ? "allow" : decision;
    const present = Object.fromEntries(Object.entries(when).filter(([, value]) => value !== undefined));
    const isGate = gate && said === "deny" && priority === 3;
    const isDoubt = doubt === 0 && said !== "allow";
    return { tier, priority, decision: said, ...present, isGate, isDoubt, origin: { source } } as PolicyRule;
  });
const requests = fc
  .record({
    server: names,
    tool: names,
    kind: kinds,
    args: fc.record({ x: fc.constantFrom(1, 2) }),
    annotations: fc.record({ readOnlyHint: fc.boolean(), title: fc.boolean() }, { requiredKeys: [] }),
    trustsAnnotations: fc.boolean(),
    mode: modes,
    interactive: fc.boolean(),
    isChanged: fc.boolean(),
  })
  .map((request): CheckRequest => request);

const patience = 600_000;
const options = { numRuns: scaled(100_000, 2000), seed: seed() };

function decide(those: readonly PolicyRule[], request: CheckRequest): DecisionOutcome {
  return new PolicyEngine({ rules: those }).check(request).decision;
}

test(
  "a rule that is in doubt never makes anything laxer, whatever it says",
  () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 6 }), rules, fc.nat(6), requests, (present, extra, at, request) => {
        fc.pre(extra.decision !== "allow");
        const after = decide(present.toSpliced(at, 0, { ...extra, isDoubt: true, isGate: false }), request);
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(decide(present, request)));
      }),
      options,
    );
  },
  patience,
);

test(
  "another rule that is at least as strict as the verdict never makes it laxer, wherever it stands and whatever the mode",
  () => {
    let stricter = 0;
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 6 }), rules, fc.nat(6), requests, (present, extra, at, request) => {
        const before = decide(present, request);
        fc.pre(strictness(extra.decision) >= strictness(before));
        const after = decide(present.toSpliced(at, 0, extra), request);
        if (after !== before) stricter += 1;
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      options,
    );
    // Rules that never mattered would prove nothing.
    expect(stricter).toBeGreaterThan(0);
  },
  patience,
);

test(
  "the rules of a workspace never loosen anything",
  () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 8 }), requests, (all, request) => {
        const others = all.filter(({ tier }) => tier !== "workspace");
        expect(strictness(decide(all, request))).toBeGreaterThanOrEqual(strictness(decide(others, request)));
      }),
      options,
    );
  },
  patience,
);

test(
  "a deny is a deny in every mode, and a gate is one whatever else is said",
  () => {
    fc.assert(
      fc.property(fc.array(rules, { maxLength: 8 }), requests, fc.nat(8), (all, request, at) => {
        const gate: PolicyRule = {
          tier: "workspace",
          decision: "deny",
          priority: 0,
          isGate: true,
          origin: { source: "settings" },
        };
        expect(decide(all.toSpliced(at, 0, gate), request)).toBe("deny");
        const [first] = new PolicyEngine({ rules: all }).matching(request);
        if (first?.decision === "deny") expect(decide(all, request)).toBe("deny");
      }),
      options,
    );
  },
  patience,
);
