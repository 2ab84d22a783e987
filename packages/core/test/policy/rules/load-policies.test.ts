import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/limits.ts";
import { PolicyEngine } from "../../../src/policy/policy-engine.ts";
import { loadPolicies } from "../../../src/policy/rules/load-policies.ts";
import type { Decision, PolicyRule } from "../../../src/policy/rules/rule.ts";
import { type Machine, machine, rulesFile, userFile, workspaceFile } from "../../support/machine.ts";
import { request } from "../../support/sample-rules.ts";

const systemFile = "etc/settings.json";
const trusting = { trustWorkspace: true };

function toml(decision: string, server: string, tool = "*", priority = 1): string {
  return `[[rule]]\nmcpName = "${server}"\ntoolName = "${tool}"\ndecision = "${decision}"\npriority = ${priority}\n`;
}

/** Loads with the administrator's folder in `etc/policies`, as it stands in the machine's folder. */
async function load(here: Machine, options: Parameters<Machine["load"]>[0] = {}, flags = {}) {
  const configuration = await here.load(options, { FAIRLEAD_SYSTEM_POLICIES_PATH: join(here.path, "etc/policies") });
  const policies = await loadPolicies(configuration, flags);
  const engine = new PolicyEngine(policies);
  const short = (file = ""): string => file.replace(`${here.path}/`, "");
  return {
    ...policies,
    /** decision, tier, where from */
    why: (server: string, tool: string): string => {
      const { decision, rule }: Decision = engine.check(request({ server, tool }));
      return `${decision} ${origin(rule)}`;
    },
    files: policies.files.map(({ file, tier, state }) => `${short(file)} ${tier} ${state}`),
    said: policies.problems.map(
      ({ severity, message, origin: at }) =>
        `${severity} ${short(at?.file)}:${at?.line} ${message.replaceAll(`${here.path}/`, "")}`,
    ),
  };

  function origin({ tier, origin: { source, file, line, name } }: PolicyRule): string {
    return [tier, source, name, file && `${short(file)}:${line}`].filter(Boolean).join(" ");
  }
}

test("without any rule there is the default", async () => {
  await using here = await machine();
  const { rules, problems, files, why } = await load(here);
  expect({ rules, problems, files }).toEqual({ rules: [], problems: [], files: [] });
  expect(why("s", "t")).toBe("ask_user default built_in tools");
});

test("every source speaks in its tier, and says where it stands", async () => {
  await using here = await machine({
    "etc/policies/a.toml": toml("deny", "s", "admin-file"),
    [systemFile]: {
      mcp: { excluded: ["gone"] },
      fairlead: { permissions: { denyTools: ["never"], servers: { few: ["one"] } } },
    },
    "home/.gemini/policies/b.toml": toml("allow", "s", "*", 0) + toml("ask_user", "s", "mine"),
    "home/.gemini/policies/notes.md": "not a policy",
    [userFile]: {
      mcpServers: { dear: { command: "x", trust: true }, s: { command: "x" } },
      mcp: { excluded: ["no\u0020more"], allowed: ["dear", "s", "few", "w"] },
      fairlead: { permissions: { denyTools: ["ugly"], servers: { few: ["one", "two"], some: ["one"] } } },
    },
    "work/.gemini/policies/c.toml": toml("deny", "dear", "risky"),
    [workspaceFile]: {
      mcpServers: { w: { command: "x", trust: true } },
      fairlead: { permissions: { denyTools: ["odd"], servers: { some: [] } } },
    },
  });
  const { why, files, problems } = await load(here, trusting, { allow: [{ server: "f", tool: "*" }] });
  const asked = [
    ["s", "admin-file"],
    ["s", "mine"],
    ["s", "other"],
    ["s", "ugly"],
    ["s", "never"],
    ["s", "odd"],
    ["gone", "t"],
    ["no more", "t"],
    ["few", "one"],
    ["few", "two"],
    ["some", "one"],
    ["some", "two"],
    ["dear", "t"],
    ["dear", "risky"],
    ["w", "t"],
    ["f", "*"],
    ["f", "t"],
    ["few", "__proto__"],
  ] as const;
  expect(asked.map(([server, tool]) => `${server}.${tool}: ${why(server, tool)}`)).toEqual([
    "s.admin-file: deny administrator policy_file etc/policies/a.toml:1",
    "s.mine: ask_user user policy_file home/.gemini/policies/b.toml:6",
    "s.other: allow user policy_file home/.gemini/policies/b.toml:1",
    expect.stringMatching(
      /^s.ugly: deny user permissions fairlead.permissions.denyTools home\/.gemini\/settings.json:\d+$/,
    ),
    expect.stringMatching(
      /^s.never: deny administrator permissions fairlead.permissions.denyTools etc\/settings.json:\d+$/,
    ),
    expect.stringMatching(
      /^s.odd: deny workspace permissions fairlead.permissions.denyTools work\/.gemini\/settings.json:\d+$/,
    ),
    expect.stringMatching(/^gone.t: deny administrator settings mcp.excluded etc\/settings.json:\d+$/),
    expect.stringMatching(/^no more.t: deny user settings mcp.excluded home\/.gemini\/settings.json:\d+$/),
    "few.one: ask_user default built_in tools",
    expect.stringMatching(
      /^few.two: deny administrator permissions fairlead.permissions.servers.few etc\/settings.json:\d+$/,
    ),
    expect.stringMatching(
      /^some.one: deny workspace permissions fairlead.permissions.servers.some work\/.gemini\/settings.json:\d+$/,
    ),
    expect.stringMatching(
      /^some.two: deny user permissions fairlead.permissions.servers.some home\/.gemini\/settings.json:\d+$/,
    ),
    expect.stringMatching(/^dear.t: allow user trust trust home\/.gemini\/settings.json:\d+$/),
    "dear.risky: deny workspace policy_file work/.gemini/policies/c.toml:1",
    expect.stringMatching(/^w.t: allow user trust trust work\/.gemini\/settings.json:\d+$/),
    "f.*: allow user flag --allow",
    "f.t: ask_user default built_in tools",
    expect.stringMatching(/^few.__proto__: deny administrator permissions/),
  ]);
  expect(problems).toEqual([]);
  expect(files).toEqual([
    "etc/policies/a.toml administrator read",
    "home/.gemini/policies/b.toml user read",
    "work/.gemini/policies/c.toml workspace read",
  ]);
});

test("a rule for a server's permitted tools names the tools that it denies", async () => {
  await using here = await machine({
    [userFile]: { fairlead: { permissions: { denyTools: ["ugly"], servers: { few: ["one", "two"], none: [] } } } },
  });
  const { rules } = await load(here);
  expect(rules.map(({ server, tool }) => [server?.text, tool?.text])).toEqual([
    [undefined, "ugly"],
    ["few", "all but one, two"],
    ["none", "*"],
  ]);
});

describe("a workspace that is not trusted", () => {
  const own = {
    "home/.gemini/policies/a.toml": toml("allow", "mine", "read") + toml("deny", "mine", "write"),
    [userFile]: { mcpServers: { mine: { command: "x", trust: true } } },
  };
  const planted = {
    "work/.gemini/policies/a.toml": `${toml("allow", "*")}${toml("deny", "mine")}`,
    "work/.gemini/policies/broken.toml": "[[rule",
    [workspaceFile]: {
      mcpServers: { planted: { command: "x", trust: true } },
      mcp: { excluded: ["mine"] },
      fairlead: { permissions: { denyTools: ["read"], servers: { mine: [] } } },
    },
  };

  test("changes nothing", async () => {
    await using clean = await machine(own);
    await using dirty = await machine({ ...own, ...planted });
    const [before, after] = [await load(clean), await load(dirty)];
    const pairs = ["mine", "planted", "other"].flatMap((server) =>
      ["read", "write", "t"].map((tool) => [server, tool] as const),
    );
    expect(pairs.map((pair) => after.why(...pair))).toEqual(pairs.map((pair) => before.why(...pair)));
    expect(after.said).toEqual([]);
    expect(after.files).toEqual([
      "home/.gemini/policies/a.toml user read",
      "work/.gemini/policies/a.toml workspace ignored",
      "work/.gemini/policies/broken.toml workspace ignored",
    ]);
  });

  test("cannot move the administrator's folder with a .env file", async () => {
    await using here = await machine({
      "work/.env": "FAIRLEAD_SYSTEM_POLICIES_PATH=/planted",
      "work/.gemini/.env": "FAIRLEAD_SYSTEM_POLICIES_PATH=/planted",
    });
    for (const options of [{}, trusting])
      expect((await here.load(options)).locations.policies.administrator).not.toBe("/planted");
  });

  test("is left out where its settings are", async () => {
    await using here = await machine({ ...own, ...planted });
    expect((await load(here, { ...trusting, workspace: false })).files).toEqual([
      "home/.gemini/policies/a.toml user read",
    ]);
  });
});

test("the trust of a workspace's entry counts once the entry is approved", async () => {
  await using here = await machine({ [workspaceFile]: { mcpServers: { w: { command: "x", trust: true } } } });
  const { root } = here;
  await here.write(rulesFile, { [root]: "TRUST_FOLDER" });
  expect((await load(here)).why("w", "t")).toBe("ask_user default built_in tools");
  expect((await load(here, trusting)).why("w", "t")).toContain("allow user trust");
});

test("trust counts in a trusted folder only", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mine: { command: "x", trust: true } } } });
  expect((await load(here)).why("mine", "t")).toBe("ask_user default built_in tools");
  expect((await load(here, trusting)).why("mine", "t")).toContain("allow user trust");
});

describe("folders", () => {
  test("of a workspace do not lead out of it, by no link", async () => {
    await using here = await machine({
      "elsewhere/secret.toml": "my password = hunter2",
      "work/inner/real.toml": toml("deny", "a"),
    });
    const policies = join(here.path, "work/.gemini/policies");
    await mkdir(policies);
    await symlink(join(here.path, "elsewhere/secret.toml"), join(policies, "a.toml"));
    await symlink(join(here.path, "work/inner/real.toml"), join(policies, "b.toml"));
    await symlink(join(here.path, "nowhere"), join(policies, "c.toml"));
    const { files, said, why } = await load(here, trusting);
    expect(files).toEqual([
      "work/.gemini/policies/a.toml workspace ignored",
      "work/.gemini/policies/b.toml workspace read",
      "work/.gemini/policies/c.toml workspace broken",
    ]);
    expect(said).toEqual([
      "warning work/.gemini/policies/a.toml:1 work/.gemini/policies/a.toml is ignored: it is a link out of the workspace",
      "error work/.gemini/policies/c.toml:1 work/.gemini/policies/c.toml is a broken symbolic link",
    ]);
    expect(why("a", "t")).toBe("deny workspace policy_file work/.gemini/policies/b.toml:1");
  });

  test("whose links lead nowhere are reported: the user meant a file to count", async () => {
    await using here = await machine({ "home/.gemini/policies/a.toml": toml("allow", "*") });
    await symlink(join(here.path, "nowhere"), join(here.path, "home/.gemini/policies/b.toml"));
    const mine = await load(here);
    expect(mine.why("s", "t")).toBe("ask_user user policy_file unreadable home/.gemini/policies/b.toml:1");
    await mkdir(join(here.path, "etc"), { recursive: true });
    await symlink(join(here.path, "nowhere"), join(here.path, "etc/policies"));
    expect((await load(here)).why("s", "t")).toBe("deny administrator policy_file unreadable etc/policies:1");
  });

  test("nor by a link that is the folder itself", async () => {
    await using here = await machine({ "elsewhere/a.toml": toml("deny", "a") });
    await symlink(join(here.path, "elsewhere"), join(here.path, "work/.gemini/policies"));
    expect((await load(here, trusting)).files).toEqual(["work/.gemini/policies/a.toml workspace ignored"]);
  });

  test("of the user may hold links to wherever they keep their files", async () => {
    await using here = await machine({ "dotfiles/a.toml": toml("deny", "a"), "home/.gemini/policies/.keep": "" });
    await symlink(join(here.path, "dotfiles/a.toml"), join(here.path, "home/.gemini/policies/a.toml"));
    expect((await load(here)).why("a", "t")).toBe("deny user policy_file home/.gemini/policies/a.toml:1");
  });

  test("that hold too much, or are none, stop more than they would have", async () => {
    const many = Object.fromEntries(
      Array.from({ length: limits.policyFiles + 1 }, (_, at) => [`home/.gemini/policies/${at}.toml`, ""]),
    );
    await using here = await machine({ ...many, "etc/policies": "a file" });
    const { files, said, why } = await load(here);
    expect(files).toEqual(["etc/policies administrator broken", "home/.gemini/policies user broken"]);
    expect(said).toEqual([
      "error etc/policies:1 etc/policies cannot be read: a part of its path is a file, not a folder",
      "error home/.gemini/policies:1 home/.gemini/policies contains more than 100 policy files",
    ]);
    expect(why("a", "t")).toBe("deny administrator policy_file unreadable etc/policies:1");
  });

  test("that hold as many files as are read are read", async () => {
    const many = Object.fromEntries(
      Array.from({ length: limits.policyFiles }, (_, at) => [`home/.gemini/policies/${at}.toml`, ""]),
    );
    await using here = await machine(many);
    const { files, problems } = await load(here);
    expect([files.length, problems]).toEqual([limits.policyFiles, []]);
  });

  test("are read file by file: one that is broken takes no other with it", async () => {
    await using here = await machine({
      "home/.gemini/policies/a.toml": "[[rule",
      "home/.gemini/policies/b.toml": toml("deny", "b"),
      "home/.gemini/policies/c.toml/d.toml": "",
    });
    const { files, why } = await load(here);
    expect(files).toEqual(
      ["a", "b", "c"].map((name) => `home/.gemini/policies/${name}.toml user ${name === "b" ? "read" : "broken"}`),
    );
    expect(why("a", "t")).toBe("ask_user user policy_file unreadable home/.gemini/policies/a.toml:1");
  });

  test("count in whatever case their ending is written", async () => {
    await using here = await machine({
      "home/.gemini/policies/a.TOML": toml("deny", "a"),
      "home/.gemini/policies/b.Toml": "[[rule",
    });
    const { files, why } = await load(here);
    expect(files).toEqual(["home/.gemini/policies/a.TOML user read", "home/.gemini/policies/b.Toml user broken"]);
    expect(why("a", "t")).toBe("deny user policy_file home/.gemini/policies/a.TOML:1");
  });

  test("that are broken make nothing laxer: what another file denies stays denied", async () => {
    await using here = await machine({
      "home/.gemini/policies/a.toml": "[[rule",
      "home/.gemini/policies/b.toml": toml("deny", "b"),
    });
    const { why } = await load(here);
    expect(why("b", "t")).toMatch(/^deny user policy_file .*b[.]toml:\d+$/);
  });
});

describe("a settings file that cannot be read may have closed anything", () => {
  const open = toml("allow", "*");
  test.each([
    ["the system's", systemFile, "deny administrator settings unreadable content etc/settings.json:undefined", {}],
    ["the user's", userFile, `ask_user user settings unreadable content ${userFile}:undefined`, {}],
    [
      "a workspace's",
      workspaceFile,
      `ask_user workspace settings unreadable content ${workspaceFile}:undefined`,
      trusting,
    ],
    [
      "that of a workspace that is not trusted",
      workspaceFile,
      "allow user policy_file home/.gemini/policies/b.toml:1",
      {},
    ],
  ])("%s", async (_, file, expected, options) => {
    await using here = await machine({
      [file]: '{ "mcp": { "excluded": ["s"] }',
      "home/.gemini/policies/b.toml": open,
    });
    expect((await load(here, options)).why("s", "t")).toBe(expected);
  });
});

test("misspelt lists of what is closed are told wherever something is decided", async () => {
  await using here = await machine({
    [userFile]: { mcp: { exclude: ["s"] }, fairlead: { permissions: { denyTool: ["t"] }, permission: {} } },
  });
  expect((await load(here)).said.map((line) => line.split(" is not")[0])).toEqual([
    `error ${userFile}:3 "exclude"`,
    `error ${userFile}:9 "denyTool"`,
    `error ${userFile}:13 "permission"`,
  ]);
});

test("--allow with a server alone covers its tools, resources and prompts, and trust its tools and resources", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mine: { command: "x", trust: true } } } });
  const { rules } = await load(here, trusting, { allow: [{ server: "f" }] });
  expect(rules.map(({ server, kind, decision, origin }) => [server?.text, kind, decision, origin.source])).toEqual([
    ["mine", "tool", "allow", "trust"],
    ["mine", "resource", "allow", "trust"],
    ["f", "tool", "allow", "flag"],
    ["f", "resource", "allow", "flag"],
    ["f", "prompt", "allow", "flag"],
  ]);
});

test("a link out of the workspace is a problem of the workspace's settings", async () => {
  await using here = await machine({ [workspaceFile]: {}, "elsewhere/a.toml": toml("deny", "s") });
  const file = join(here.path, "work/.gemini/policies/a.toml");
  await mkdir(join(here.path, "work/.gemini/policies"));
  await symlink(join(here.path, "elsewhere/a.toml"), file);
  const { problems } = await load(here, trusting);
  expect(problems).toEqual([
    {
      severity: "warning",
      code: "settings_invalid",
      message: `${file} is ignored: it is a link out of the workspace`,
      origin: { scope: "workspace", file, line: 1, column: 1 },
    },
  ]);
});
