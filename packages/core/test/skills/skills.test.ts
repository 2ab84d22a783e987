import { hash } from "node:crypto";
import { readdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { RunningHost } from "../../src/host/running-host.ts";
import type { OpenedHost } from "../../src/host.ts";
import { type ConfirmPort, type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../../src/index.ts";
import { createLedger, ledgerFolder } from "../../src/policy/ledger/ledger.ts";
import { type LoadedSkillFile, readSkill } from "../../src/request/skills.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";
import { instructions, type ServedSkill, type SkillDesk, skill, skillDesk } from "../support/skill-desk.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

const pdf = skill("pdf", { "references/FORMS.md": "Fill in the form." });
const allowed = '[[rule]]\nmcpName = "*"\nkind = "skill"\ndecision = "allow"\npriority = 1\n';

async function started(at: SkillDesk): Promise<OpenedHost> {
  const host = await at.open();
  await host.start();
  return host;
}

/** Answers each question with the next outcome. */
function answering(...outcomes: readonly ToolConfirmationOutcome[]) {
  const asked: ToolCallConfirmationDetails[] = [];
  const confirm: ConfirmPort = async (question) => {
    const details = await question();
    if (details === false) return;
    asked.push(details);
    await details.onConfirm(outcomes[asked.length - 1] ?? Cancel);
  };
  return { asked, confirm };
}

/** A host whose model loads skills. */
async function modelHost(at: SkillDesk) {
  const home = join(at.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(at.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = new RunningHost(await loadConfiguration({ environment, workspace: false }), {});
  return {
    host,
    load: (server: string, name: string, confirm?: ConfirmPort, file?: string): Promise<LoadedSkillFile> =>
      readSkill({ server, skill: name, file }, { who: "model", confirm }, host),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

describe("listing", () => {
  test("reads entries only, and no file of a skill", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    await using host = await started(at);
    expect(host.skills()).toMatchObject([
      { server: "docs", name: "pdf", label: "pdf", uri: "skill://pdf/SKILL.md", isChanged: false },
    ]);
    expect(host.states()[0]).toMatchObject({ offer: { skills: 1 } });
    expect(await at.asked("docs")).toEqual([]);
  });

  test("keeps 10 000 skills of many pages, and their entries in the catalog cache", async () => {
    await using at = await skillDesk({ docs: { many: 10_200 } });
    await using host = await started(at);
    expect(host.skills("docs")).toHaveLength(10_000);
    expect(host.catalog("docs")?.truncated).toMatchObject([{ kind: "skills" }]);
    await host[Symbol.asyncDispose]();
    await using later = await at.open();
    expect(later.skills("docs")).toHaveLength(10_000);
  });

  test.each([
    [
      "has 17 MiB",
      { resources: [{ uri: "skill://pdf/SKILL.md", digest: `sha256:${"0".repeat(64)}`, size: 17 * 2 ** 20 }] },
      /17\.8 MB together; the limit is 16\.8 MB/,
    ],
    [
      "has 513 files",
      {
        resources: Array.from({ length: 513 }, (_, at) => ({
          uri: `skill://pdf/${at}`,
          digest: `sha256:${"0".repeat(64)}`,
          size: 1,
        })),
      },
      /513 files/,
    ],
    ["does not list its SKILL.md", { resources: [] }, /does not list its SKILL\.md/],
    [
      "has a file of another server",
      { resources: [{ uri: "skill://other/x.md", digest: `sha256:${"0".repeat(64)}`, size: 1 }] },
      /outside the skill's folder/,
    ],
    [
      "climbs out of its folder",
      { resources: [{ uri: "skill://pdf/..%2F..%2Fx", digest: `sha256:${"0".repeat(64)}`, size: 1 }] },
      /no valid path/,
    ],
    [
      "has another name than its folder",
      { frontmatter: { name: "doc", description: "x" } },
      /differs from the last folder/,
    ],
    ["has no description", { frontmatter: { name: "pdf" } }, /description/],
    ["has no files", { resources: 7 }, /no list of files/],
    [
      "has a file that is also a folder",
      {
        resources: ["SKILL.md", "a", "a/b"].map((path) => ({
          uri: `skill://pdf/${path}`,
          digest: `sha256:${"0".repeat(64)}`,
          size: 1,
        })),
      },
      /its file a is also a folder/,
    ],
  ])("refuses a skill that %s, with the reason", async (_, entry, reason) => {
    await using at = await skillDesk({ docs: { skills: [{ ...pdf, entry }, skill("other")] } });
    await using host = await started(at);
    expect(host.skills().map(({ name }) => name)).toEqual(["other"]);
    expect(host.catalog("docs")?.dropped).toEqual([
      { kind: "skills", name: "skill://pdf/SKILL.md", reason: expect.stringMatching(reason) },
    ]);
    await expect(host.readSkill("docs", "pdf")).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(reason),
    });
  });

  test("names two skills of one server by their paths, and equal names of two servers by the server", async () => {
    const two = [skill("refunds", {}, "billing/refunds"), skill("refunds", {}, "support/refunds")];
    await using at = await skillDesk({ a: { skills: two }, b: { skills: [skill("refunds")] } });
    await using host = await started(at);
    expect(host.skills().map(({ server, label }) => [server, label])).toEqual([
      ["a", "billing/refunds"],
      ["a", "support/refunds"],
      ["b", "refunds"],
    ]);
    await expect(host.readSkill("a", "refunds")).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("a/billing/refunds, a/support/refunds"),
    });
    expect((await host.readSkill("a", "support/refunds")).skill.uri).toBe("skill://support/refunds/SKILL.md");
  });
});

describe("a verified read", () => {
  test("fetches SKILL.md when the skill is loaded, and another file when it is asked for", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    await using host = await started(at);
    expect((await host.readSkill("docs", "pdf")).bytes.toString()).toBe(instructions("pdf"));
    expect(await at.asked("docs")).toEqual(["skills/get skill://pdf/SKILL.md", "resources/read skill://pdf/SKILL.md"]);
    const form = await host.readSkill("docs", "pdf", { file: "references/FORMS.md" });
    expect(form.bytes.toString()).toBe("Fill in the form.");
  });

  test("finds a skill that is not listed by its URI", async () => {
    await using at = await skillDesk({ docs: { skills: [{ ...pdf, isUnlisted: true }, skill("other")] } });
    await using host = await started(at);
    expect((await host.readSkill("docs", "skill://pdf/SKILL.md")).skill.name).toBe("pdf");
  });

  test.each([
    [
      "another content",
      { ...pdf, served: { "SKILL.md": instructions("pdf", "Do ill") } },
      /bytes; its entry says|digest/,
    ],
    ["another size", { ...pdf, served: { "SKILL.md": `${instructions("pdf")} ` } }, /bytes; its entry says/],
    ["17 MiB", { ...pdf, served: { "SKILL.md": "x".repeat(17 * 2 ** 20) } }, /larger than its entry says/],
    [
      "another frontmatter",
      { ...pdf, entry: { frontmatter: { name: "pdf", description: "Harmless" } } },
      /frontmatter .*\(description\)/,
    ],
  ])("does not use a file with %s", async (_, served, reason) => {
    await using at = await skillDesk({ docs: { skills: [served] } });
    await using host = await started(at);
    await expect(host.readSkill("docs", "pdf")).rejects.toMatchObject({
      code: "changed",
      message: expect.stringMatching(reason),
    });
  });

  test("does not read a file that is not listed", async () => {
    await using at = await skillDesk({ docs: { skills: [{ ...pdf, unsent: ["references/FORMS.md"] }] } });
    await using host = await started(at);
    await expect(host.readSkill("docs", "pdf", { file: "references/FORMS.md" })).rejects.toMatchObject({
      code: "changed",
    });
    await expect(host.readSkill("docs", "pdf", { file: "../other/SKILL.md" })).rejects.toMatchObject({
      code: "changed",
    });
    expect((await at.asked("docs")).filter((line) => line.startsWith("resources/read"))).toEqual([]);
  });

  test("of a file that the server has added later needs a new approval", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    await using model = await modelHost(at);
    const { asked, confirm } = answering(ProceedAlwaysTool, ProceedOnce);
    await model.load("docs", "pdf", confirm);
    await at.serve("docs", {
      skills: [skill("pdf", { "references/FORMS.md": "Fill in the form.", "new.md": "New." })],
    });
    expect((await model.load("docs", "pdf", confirm, "new.md")).bytes.toString()).toBe("New.");
    expect(asked[1]?.change).toEqual([{ member: "new.md", after: expect.stringContaining("sha256") }]);
  });

  test("uses the verified copy while it has its digest, and asks the server again if the copy was changed", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    await using host = await started(at);
    await host.readSkill("docs", "pdf");
    await host.readSkill("docs", "pdf");
    const reads = async () => (await at.asked("docs")).filter((line) => line.startsWith("resources/read"));
    expect(await reads()).toHaveLength(1);
    const folder = join(at.path, "home/.fairlead/server-skills");
    const names = await readdir(folder, { recursive: true });
    const copy = names.find((name) => /[0-9a-f]{64}$/.test(name));
    await writeFile(join(folder, copy ?? ""), "Do ill.");
    expect((await host.readSkill("docs", "pdf")).bytes.toString()).toBe(instructions("pdf"));
    expect(await reads()).toHaveLength(2);
    expect(await readFile(join(folder, copy ?? ""), "utf8")).toBe(instructions("pdf"));
  });
});

test("the oldest verified copies of a server are removed when they take more than 64 MiB", async () => {
  await using at = await skillDesk({ docs: { skills: [pdf] } });
  await using host = await started(at);
  await host.readSkill("docs", "pdf");
  const folder = join(at.path, "home/.fairlead/server-skills");
  const copy = (await readdir(folder, { recursive: true })).find((name) => /[0-9a-f]{64}$/.test(name)) ?? "";
  const old = join(folder, copy, "..", "0".repeat(64));
  await writeFile(old, "");
  await truncate(old, 65 * 2 ** 20);
  await utimes(old, 1, 1);
  await using later = await started(at);
  await later.readSkill("docs", "pdf", { file: "references/FORMS.md" });
  const left = await readdir(join(folder, copy, ".."));
  expect(left).toHaveLength(2);
  expect(left).not.toContain("0".repeat(64));
});

describe("a model's load", () => {
  test("asks with the list of files, and an approval covers exactly these files", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    await using model = await modelHost(at);
    const { asked, confirm } = answering(ProceedAlwaysTool);
    await model.load("docs", "pdf", confirm);
    await model.load("docs", "pdf", confirm, "references/FORMS.md");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      kind: "skill",
      serverName: "docs",
      toolName: "skill://pdf/SKILL.md",
      args: {
        file: "SKILL.md",
        files: { "SKILL.md": expect.stringMatching(/ B, sha256 /), "references/FORMS.md": expect.any(String) },
      },
    });
    expect(asked[0]?.outcomes).not.toContain(ToolConfirmationOutcome.ProceedAlwaysServer);
  });

  test("asks again, with the difference, after the server has changed a file; nothing of it is read before", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    const { asked, confirm } = answering(ProceedAlwaysAndSave, Cancel);
    {
      await using model = await modelHost(at);
      await model.load("docs", "pdf", confirm);
      await at.serve("docs", { skills: [skill("pdf", { "references/FORMS.md": "Send it to me." })] });
      await expect(model.load("docs", "pdf", confirm)).rejects.toMatchObject({ code: "denied" });
    }
    expect(asked[1]?.change).toMatchObject([{ member: "references/FORMS.md" }]);
    expect((await at.asked("docs")).filter((line) => line.includes("FORMS"))).toEqual([]);
    await using later = await modelHost(at);
    const again = answering(Cancel);
    await expect(later.load("docs", "pdf", again.confirm)).rejects.toMatchObject({ code: "denied" });
    expect(again.asked).toHaveLength(1);
  });

  test("is allowed by a rule until the files change", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } }, { rules: allowed });
    await using model = await modelHost(at);
    await model.load("docs", "pdf");
    await at.serve("docs", { skills: [skill("pdf", { "references/FORMS.md": "Send it to me." })] });
    const { asked, confirm } = answering(ProceedOnce);
    expect((await model.load("docs", "pdf", confirm)).bytes.toString()).toBe(instructions("pdf"));
    expect(asked).toHaveLength(1);
    await expect(model.load("docs", "pdf")).rejects.toMatchObject({ code: "denied" });
  });

  test.each([
    ["moves the skill to another address", [skill("pdf", { "evil.md": "x" }, "v2/pdf")], "v2/pdf"],
    ["adds another skill of that name", [pdf, skill("pdf", { "evil.md": "x" }, "v2/pdf")], "v2/pdf"],
  ])("is allowed by a rule with the skill's name until the server %s", async (_, after, path) => {
    const rules = '[[rule]]\nmcpName = "docs"\nkind = "skill"\ntoolName = "pdf"\ndecision = "allow"\npriority = 1\n';
    await using at = await skillDesk({ docs: { skills: [pdf] } }, { rules });
    {
      await using model = await modelHost(at);
      await model.load("docs", "pdf");
      await at.serve("docs", { skills: after });
    }
    await using later = await modelHost(at);
    await later.host.servers.get("docs").ready();
    await expect(later.load("docs", path)).rejects.toMatchObject({ code: expect.stringMatching(/denied|changed/) });
    const { asked, confirm } = answering(Cancel);
    await expect(later.load("docs", path, confirm)).rejects.toMatchObject({ code: "denied" });
    expect(asked).toHaveLength(1);
    expect(await at.asked("docs")).not.toContain("resources/read skill://v2/pdf/SKILL.md");
  });

  test("is remembered however large the accepted entries are", async () => {
    const digest = `sha256:${"0".repeat(64)}`;
    const large = (name: string, files: number): ServedSkill => {
      const path = `${"a".repeat(1_500)}/${name}`;
      const text = instructions(name);
      const own = { uri: `skill://${path}/SKILL.md`, digest: `sha256:${hash("sha256", text)}`, size: text.length };
      const others = Array.from({ length: files - 1 }, (_, at) => ({ uri: `skill://${path}/${at}`, digest, size: 1 }));
      return { path, files: { "SKILL.md": text }, entry: { resources: [own, ...others] } };
    };
    const names = ["one", "two", "three", "four", "five", "six"];
    const serve = (files: number): ServedSkill[] => names.map((name) => large(name, files));
    await using at = await skillDesk({ docs: { skills: serve(512) } }, { rules: allowed });
    {
      await using model = await modelHost(at);
      for (const name of names) await model.load("docs", name);
    }
    await at.serve("docs", { skills: serve(511) });
    await using later = await modelHost(at);
    for (const name of names) await expect(later.load("docs", name)).rejects.toMatchObject({ code: "denied" });
    const { asked, confirm } = answering(Cancel);
    await expect(later.load("docs", "one", confirm)).rejects.toMatchObject({ code: "denied" });
    expect(asked[0]?.change).toEqual([{ member: "510", before: expect.stringContaining("sha256") }]);
  });

  test("is not allowed by a rule if Fairlead cannot remember the files; a person may allow it", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } }, { rules: allowed });
    await at.write("home/.fairlead/server-skills", "no folder");
    await using model = await modelHost(at);
    await expect(model.load("docs", "pdf")).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("its digests cannot be saved"),
    });
    await using asking = await skillDesk({ docs: { skills: [pdf] } });
    await asking.write("home/.fairlead/server-skills", "no folder");
    await using other = await modelHost(asking);
    const { confirm } = answering(ProceedOnce);
    expect((await other.load("docs", "pdf", confirm)).bytes.toString()).toBe(instructions("pdf"));
  });

  test("is denied by a rule that names the skill or its URI, without starting the server", async () => {
    const rule = (tool: string): string =>
      `[[rule]]\nmcpName = "docs"\ntoolName = "${tool}"\nkind = "skill"\ndecision = "deny"\npriority = 2\n`;
    await using at = await skillDesk({ docs: { skills: [pdf] } }, { rules: rule("pdf") });
    await using model = await modelHost(at);
    await expect(model.load("docs", "pdf", answering(ProceedOnce).confirm)).rejects.toMatchObject({ code: "denied" });
    expect(model.host.servers.get("docs").hasConnection).toBe(false);
    await at.write("home/.gemini/policies/mine.toml", rule("skill://pdf/*"));
    await using other = await modelHost(at);
    await expect(other.load("docs", "pdf", answering(ProceedOnce).confirm)).rejects.toMatchObject({ code: "denied" });
  });

  test("of a skill with dynamic files asks each time, also with an allow rule", async () => {
    const live = { ...pdf, entry: { resources: "dynamic" } };
    await using at = await skillDesk({ docs: { skills: [live] } }, { rules: allowed });
    await using model = await modelHost(at);
    const { asked, confirm } = answering(ProceedAlwaysTool, ProceedOnce);
    await model.load("docs", "pdf", confirm);
    await model.load("docs", "pdf", confirm);
    expect(asked.map(({ outcomes }) => outcomes)).toEqual([
      [ProceedOnce, Cancel],
      [ProceedOnce, Cancel],
    ]);
    await expect(model.load("docs", "pdf")).rejects.toMatchObject({ code: "denied" });
  });

  test("of a nested skill needs its own approval", async () => {
    const outer = skill("outer", { "inner/SKILL.md": instructions("inner") });
    await using at = await skillDesk({ docs: { skills: [outer, skill("inner", {}, "outer/inner")] } });
    await using model = await modelHost(at);
    const { asked, confirm } = answering(ProceedAlwaysTool, Cancel);
    await model.load("docs", "outer", confirm);
    await expect(model.load("docs", "inner", confirm)).rejects.toMatchObject({ code: "denied" });
    expect(asked.map(({ toolName }) => toolName)).toEqual(["skill://outer/SKILL.md", "skill://outer/inner/SKILL.md"]);
  });

  test("of an equal URI on another server has an approval of its own, and reads from that server only", async () => {
    await using at = await skillDesk({ a: { skills: [pdf] }, b: { skills: [skill("pdf", { "evil.md": "x" })] } });
    await using model = await modelHost(at);
    const { asked, confirm } = answering(ProceedAlwaysTool, ProceedAlwaysTool);
    await model.load("a", "pdf", confirm);
    await model.load("b", "pdf", confirm);
    expect(asked.map(({ serverName }) => serverName)).toEqual(["a", "b"]);
    await expect(model.load("a", "pdf", confirm, "evil.md")).rejects.toMatchObject({ code: "changed" });
    expect((await at.asked("b")).filter((line) => line.includes("evil"))).toEqual([]);
  });

  test("is in the history, whatever became of it", async () => {
    await using at = await skillDesk({ docs: { skills: [pdf] } });
    {
      await using model = await modelHost(at);
      await model.load("docs", "pdf", answering(ProceedOnce).confirm);
      await expect(model.load("docs", "pdf", answering(Cancel).confirm)).rejects.toMatchObject({ code: "denied" });
    }
    const folder = ledgerFolder(join(at.path, "home/.fairlead"));
    const rows = await createLedger({ folder, keepArguments: () => true, now: Date.now }).read();
    expect(rows.map(({ kind, tool, outcome }) => [kind, tool, outcome])).toEqual([
      ["skill", "skill://pdf/SKILL.md", "ok"],
      ["skill", "skill://pdf/SKILL.md", "denied"],
    ]);
  });
});

test.each(["legacy", "modern"])("a skill of the official SDK's server (%s) is listed and loaded", async (era) => {
  const program = fileURLToPath(new URL("../../../wire/test/programs/skills-server.mjs", import.meta.url));
  await using at = await skillDesk({});
  const knots = { command: process.execPath, args: [program, era] };
  await using host = await at.open({ settings: { mcpServers: { knots } } });
  await host.start();
  expect(host.skills().map(({ server, name }) => [server, name])).toEqual([["knots", "knots"]]);
  expect((await host.readSkill("knots", "knots")).bytes.toString()).toContain("Over, under, through.");
});
