import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost } from "../../src/index.ts";
import { PolicyEngine } from "../../src/policy/policy-engine.ts";
import { namePattern } from "../../src/policy/rules/name-pattern.ts";
import type { RequestingUser } from "../../src/policy/rules/rule.ts";
import { request, rule } from "../support/sample-rules.ts";

const ada: RequestingUser = { user: "https://idp.example#ada", groups: ["engineers", "on-call"] };

describe("rules about users and groups", () => {
  const decide = (condition: { user?: string; group?: string }, principal: RequestingUser | undefined) => {
    const patterns = Object.fromEntries(Object.entries(condition).map(([key, text]) => [key, namePattern(text)]));
    const engine = new PolicyEngine({ rules: [rule("administrator", "deny", patterns)] });
    return engine.check(request({ principal })).decision;
  };

  test.each([
    [{ user: ada.user }, "deny"],
    [{ user: "https://idp.example#*" }, "deny"],
    [{ user: "https://other.example#ada" }, "ask_user"],
    [{ user: "ada" }, "ask_user"],
    [{ group: "engineers" }, "deny"],
    [{ group: "on-*" }, "deny"],
    [{ group: "managers" }, "ask_user"],
    [{ user: ada.user, group: "managers" }, "ask_user"],
    [{ user: ada.user, group: "on-call" }, "deny"],
  ])("a rule with %j decides %s about a user who is in two groups", (condition, expected) => {
    expect(decide(condition, ada)).toBe(expected);
  });

  test.each([[{ user: "*" }], [{ group: "*" }]])(
    "a rule with %j is about nobody, if the host works for no user, and a user without groups is in none",
    (condition) => {
      expect(decide(condition, undefined)).toBe("ask_user");
      expect(decide({ group: "*" }, { user: "x" })).toBe("ask_user");
    },
  );

  test("a denial for a group is final before anything starts", () => {
    const engine = new PolicyEngine({ rules: [rule("administrator", "deny", { group: namePattern("interns") })] });
    const principal = { user: "i", groups: ["interns"] };
    expect(engine.deniesByName(request({ principal }))).toBe(true);
    expect(engine.deniesByName(request({ principal: ada }))).toBe(false);
  });
});

describe("a host for each user", () => {
  const settings = { mcpServers: { s: stdioServer("well-behaved") } };
  const rules = `
[[rule]]
mcpName = "s"
toolName = "echo"
group = "engineers"
decision = "allow"
priority = 200

[[rule]]
mcpName = "s"
user = "https://idp.example#eve"
decision = "deny"
priority = 300
`;

  test("two users of one program get different decisions from the same policy files", async () => {
    await using folder = await temporaryFolder();
    await folder.write(".gemini/policies/team.toml", rules);
    const environment = { env: {}, home: folder.path, cwd: folder.path, platform: process.platform } as const;
    const decisionsOf = async (principal?: RequestingUser) => {
      await using host = await createHost({ environment, settings, workspace: false, principal });
      await host.start({ servers: ["s"] });
      const greeted = await host.callAsModel("echo", { text: "Ada" }).then(
        ({ llmContent }) => JSON.stringify(llmContent),
        ({ code }: { code: string }) => code,
      );
      return [(await host.decide("s", "echo")).decision, (await host.decide("s", "other")).decision, greeted];
    };
    expect(await decisionsOf(ada)).toEqual(["allow", "ask_user", expect.stringContaining("Ada")]);
    const eve = { user: "https://idp.example#eve", groups: ["engineers"] };
    expect(await decisionsOf(eve)).toEqual(["deny", "deny", "denied"]);
    expect(await decisionsOf()).toEqual(["ask_user", "ask_user", "denied"]);
  });

  test("explain takes another user than the one for whom the host works", async () => {
    await using folder = await temporaryFolder();
    await folder.write(".gemini/policies/team.toml", rules);
    const environment = { env: {}, home: folder.path, cwd: folder.path, platform: process.platform } as const;
    await using host = await createHost({ environment, settings, workspace: false, principal: ada });
    const eve = { user: "https://idp.example#eve", groups: [] };
    expect((await host.decide("s", "echo", undefined, { principal: eve })).decision).toBe("deny");
  });

  test.each([[{}], [{ user: "" }], [{ user: "a", groups: "b" }], [{ user: "a", groups: [1] }], ["ada"]])(
    "the principal %j is refused by name",
    async (principal) => {
      const wrong = createHost({ principal } as object);
      await expect(wrong).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("principal") });
    },
  );
});
