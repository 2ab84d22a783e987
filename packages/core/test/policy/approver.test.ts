import { describe, expect, test } from "vitest";
import { PolicyEngine } from "../../src/policy/policy-engine.ts";
import { approverOf } from "../../src/policy/rules/built-in-rules.ts";
import { namePattern } from "../../src/policy/rules/name-pattern.ts";
import { readPolicyText } from "../../src/policy/rules/policy-file.ts";
import type { RequestingUser } from "../../src/policy/rules/rule.ts";
import { request, rule } from "../support/sample-rules.ts";

const ada: RequestingUser = { user: "https://idp.example#ada", groups: ["engineers"] };
const asks = rule("administrator", "ask_user", { approver: namePattern("leads") });

describe("a rule that names who confirms", () => {
  const engine = new PolicyEngine({ rules: [asks] });

  test("asks about a user's request, and says who answers", () => {
    const decision = engine.check(request({ principal: ada }));
    expect([decision.decision, approverOf(decision)]).toEqual(["ask_user", "leads"]);
  });

  test("denies where there is only one person, because nobody may confirm their own request", () => {
    const decision = engine.check(request({ principal: undefined }));
    expect(decision.decision).toBe("deny");
    expect(decision.rule.origin.name).toBe("noApprover");
    expect(decision.over).toBe(asks);
  });

  test("still counts if the definition has changed: the question then shows the change to the approver", () => {
    const decision = engine.check(request({ principal: ada, isChanged: true }));
    expect([decision.decision, decision.rule.origin.name, approverOf(decision)]).toEqual([
      "ask_user",
      "changed",
      "leads",
    ]);
  });

  test("is not answered by the mode yolo", () => {
    const own = new PolicyEngine({ rules: [rule("user", "ask_user", { approver: namePattern("leads") })] });
    expect(own.check(request({ principal: ada, mode: "yolo" })).decision).toBe("ask_user");
  });
});

describe("approver in a policy file", () => {
  const read = (text: string) =>
    readPolicyText(text, "policy version 7", { tier: "administrator", servers: ["github"] });

  test("is a pattern of groups", async () => {
    const { rules, problems } = await read(
      '[[rule]]\nmcpName = "github"\ntoolName = "merge"\ndecision = "ask_user"\napprover = "leads-*"\npriority = 1\n',
    );
    expect(problems).toEqual([]);
    expect(rules[0]?.approver?.matches("leads-eu")).toBe(true);
    expect(rules[0]?.origin).toMatchObject({ file: "policy version 7", line: 1 });
  });

  test.each([["allow"], ["deny"]])(
    "is a mistake in a rule that decides %s, which then only gets stricter",
    async (decision) => {
      const { rules, problems } = await read(
        `[[rule]]\nmcpName = "github"\ndecision = "${decision}"\napprover = "leads"\npriority = 1\n`,
      );
      expect(problems[0]?.message).toContain('"approver" says who confirms a request, so the rule must ask');
      expect(rules.map((each) => each.decision)).toEqual(decision === "allow" ? [] : ["deny"]);
    },
  );
});
