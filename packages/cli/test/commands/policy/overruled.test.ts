import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";

const denied = (...tools: readonly string[]): string =>
  `[[rule]]\nmcpName = "demo"\ntoolName = ${JSON.stringify(tools)}\ndecision = "deny"\npriority = 1\n`;

test("the user is told about at most five tools for which a stronger rule decides, and how many more there are", async () => {
  await using here = await machine({
    "etc/policies/all.toml": denied("greet", "picture", "statistics", "count", "wait"),
  });
  const notes = ["greet", "picture", "statistics", "count", "wait"].map(
    (tool) => `note: for demo.${tool} a stronger rule decides: a rule in /etc/policies/all.toml:1 denies it\n`,
  );
  const allow = async (): Promise<string> => {
    const { code, stderr } = await here.run("policy", "allow", "demo.*");
    expect(code).toBe(0);
    await here.run("policy", "remove", "demo.*");
    return stderr.replaceAll(here.path, "");
  };
  const undo = "undo: fairlead policy remove 'demo.*'\n";
  expect(await allow()).toBe(`${notes.join("")}${undo}`);
  await here.write("etc/policies/all.toml", '[[rule]]\nmcpName = "demo"\ndecision = "deny"\npriority = 1\n');
  expect(await allow()).toBe(
    `${notes.join("")}note: stronger rules also decide for 1 other tool; to see the rules: fairlead policy list\n${undo}`,
  );
});

test("the JSON document has the written rule, the replaced decision and each stronger rule", async () => {
  await using here = await machine({ "etc/policies/all.toml": denied("greet") });
  const written = async (...words: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await here.run("policy", ...words, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout.replaceAll(here.path, ""));
  };
  const base = { schemaVersion: 1, server: "demo", file: "/home/.gemini/policies/fairlead.toml", line: 3 };
  expect(await written("allow", "demo.greet")).toEqual({
    ...base,
    tool: "greet",
    decision: "allow",
    overruled: [
      {
        server: "demo",
        tool: "greet",
        rule: {
          decision: "deny",
          tier: "administrator",
          priority: 1,
          server: "demo",
          tool: "greet",
          origin: { source: "policy_file", file: "/etc/policies/all.toml", line: 1 },
          text: "a rule in /etc/policies/all.toml:1 denies it",
        },
      },
    ],
  });
  expect(await written("deny", "demo.greet")).toMatchObject({ decision: "deny", replaced: "allow", overruled: [] });
  expect(await written("ask", "--kind", "prompt", "demo.teach", "--client", "codex", "--args-pattern", "x")).toEqual({
    ...base,
    line: 9,
    tool: "teach",
    kind: "prompt",
    argsPattern: "x",
    client: "codex",
    decision: "ask_user",
    overruled: [],
  });
});
