import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

const text = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: Works with ${name} files\n---\nDo it.${more}\n`;
const pdf = { path: "pdf", files: { "SKILL.md": text("pdf"), "references/FORMS.md": "Fill in the form." } };

interface Skills extends Machine {
  serve(server: string, skills: object): Promise<unknown>;
}

async function skillMachine(servers: Readonly<Record<string, object>>): Promise<Skills> {
  const here = await machine();
  const serve = (server: string, skills: object): Promise<unknown> => here.write(`${server}.json`, skills);
  const entries: [string, object][] = [];
  for (const [name, skills] of Object.entries(servers)) {
    await serve(name, skills);
    entries.push([name, stdioServer("skills", join(here.path, `${name}.json`), join(here.path, `${name}.diary`))]);
  }
  await here.write(userFile, { mcpServers: Object.fromEntries(entries) });
  return { ...here, serve };
}

describe("fairlead skills", () => {
  test("lists the skills of each server, and why one cannot be used", async () => {
    const large = { path: "big", files: { "SKILL.md": text("big") }, entry: { resources: [] } };
    await using here = await skillMachine({ docs: { skills: [pdf, large] } });
    expect(await here.run("skills")).toEqual({
      code: 0,
      stdout: "docs: 1 skill\n\n  pdf (2 files, 76 B)\n      Works with pdf files\n",
      stderr: '"docs": skill skill://big/SKILL.md cannot be used: it does not list its SKILL.md\n',
    });
    expect(JSON.parse((await here.run("skills", "docs", "--json")).stdout)).toMatchObject({
      schemaVersion: 1,
      skills: [
        {
          server: "docs",
          name: "pdf",
          uri: "skill://pdf/SKILL.md",
          files: [{ path: "SKILL.md" }, { path: "references/FORMS.md" }],
          isChanged: false,
        },
      ],
      unusable: [{ server: "docs", uri: "skill://big/SKILL.md" }],
    });
    expect(await here.run("mcp", "list")).toMatchObject({ stdout: expect.stringContaining("1 skill") });
  });

  test("show prints the files and the verified instructions", async () => {
    await using here = await skillMachine({ docs: { skills: [pdf] } });
    const { code, stdout } = await here.run("skills", "show", "pdf");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^pdf of docs: Works with pdf files\nskill:\/\/pdf\/SKILL\.md\n {2}SKILL\.md {2}59 B {2}sha256:\w{64}\n {2}references\/FORMS\.md [\s\S]*Do it\.\n/,
    );
  });

  test("a bare name that two servers have lists both, with exit code 2", async () => {
    await using here = await skillMachine({ a: { skills: [pdf] }, b: { skills: [pdf] } });
    expect(await here.run("skills", "show", "pdf")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("2 skills have this name: a/pdf, b/pdf"),
    });
    expect(await here.run("skills", "show", "b/pdf")).toMatchObject({ code: 0 });
    expect(await here.run("skills", "show", "a/nothing")).toMatchObject({ code: 2 });
  });

  test("get copies the verified files, and nothing if one of them differs", async () => {
    await using here = await skillMachine({ docs: { skills: [pdf] } });
    const target = join(here.path, "copy");
    expect(await here.run("skills", "get", "docs/pdf", target)).toMatchObject({ code: 0 });
    expect(await readFile(join(target, "references/FORMS.md"), "utf8")).toBe("Fill in the form.");
    expect(await here.run("skills", "get", "docs/pdf", target)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is not empty"),
    });
    await here.serve("docs", {
      skills: [
        {
          ...pdf,
          path: "other/pdf",
          files: { ...pdf.files, "references/FORMS.md": "Another form." },
          served: { "references/FORMS.md": "Send me the form." },
        },
      ],
    });
    const other = join(here.path, "other");
    expect(await here.run("skills", "get", "docs/skill://other/pdf/SKILL.md", other)).toMatchObject({ code: 6 });
    await expect(readdir(other)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("changed files are shown and need a yes", async () => {
    await using here = await skillMachine({ docs: { skills: [pdf] } });
    await here.run("skills", "show", "docs/pdf");
    await here.serve("docs", {
      skills: [{ ...pdf, files: { ...pdf.files, "references/FORMS.md": "Send me the form." } }],
    });
    const refused = await here.run("skills", "show", "docs/pdf");
    expect(refused).toMatchObject({
      code: 6,
      stdout: expect.stringContaining("changed since you accepted it:\n  references/FORMS.md"),
    });
    expect(refused.stdout).not.toContain("Do it.");
    expect(await here.run("skills", "show", "docs/pdf", "--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Do it."),
    });
    expect(await here.run("skills", "show", "docs/pdf")).toMatchObject({ code: 0 });
  });

  test("a deny rule holds, and what is kept of a server's skills is removed with the server", async () => {
    await using here = await skillMachine({ docs: { skills: [pdf] } });
    expect(await here.run("policy", "deny", "--kind", "skill", "docs.pdf")).toMatchObject({ code: 0 });
    expect(await here.run("skills", "show", "docs/pdf", "--yes")).toMatchObject({ code: 6 });
    expect(await here.run("policy", "remove", "--kind", "skill", "docs.pdf")).toMatchObject({ code: 0 });
    expect(await here.run("skills", "show", "docs/pdf")).toMatchObject({ code: 0 });
    const kept = join(here.path, "home/.fairlead/server-skills");
    expect(await readdir(kept)).toHaveLength(1);
    expect(await here.run("mcp", "remove", "docs")).toMatchObject({ code: 0 });
    expect(await readdir(kept)).toEqual([]);
  });

  test("the lock file has a digest of each skill, and lock verify names a skill whose files have changed", async () => {
    await using here = await machine();
    await here.write("docs.json", { skills: [pdf] });
    const docs = stdioServer("skills", join(here.path, "docs.json"), join(here.path, "docs.diary"));
    await here.write("project/.gemini/settings.json", { mcpServers: { docs } });
    expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
    expect(await here.run("lock")).toMatchObject({ code: 0 });
    const lock = JSON.parse(await readFile(join(here.path, "project/.gemini/mcp.lock"), "utf8"));
    expect(lock.servers.docs.skills).toEqual({ "skill://pdf/SKILL.md": expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await here.run("lock", "verify")).toMatchObject({ code: 0 });
    await here.write("docs.json", { skills: [{ ...pdf, files: { ...pdf.files, "references/FORMS.md": "Send it." } }] });
    const { code, stdout, stderr } = await here.run("lock", "verify");
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("skill changed: skill://pdf/SKILL.md");
  });

  test("a skill that differs from the lock file is changed, also on a machine that has never used it", async () => {
    await using here = await machine();
    await here.write("docs.json", { skills: [pdf] });
    const docs = stdioServer("skills", join(here.path, "docs.json"), join(here.path, "docs.diary"));
    await here.write("project/.gemini/settings.json", { mcpServers: { docs } });
    await here.run("trust", "add", "--yes");
    await here.run("lock");
    expect(await here.run("skills", "show", "docs/pdf")).toMatchObject({ code: 0 });
    const swapped = { ...pdf, files: { ...pdf.files, "references/FORMS.md": "Send it." } };
    const added = { path: "more", files: { "SKILL.md": text("more") } };
    await here.write("docs.json", { skills: [swapped, added] });
    await here.run("policy", "allow", "--kind", "skill", "docs.*");
    await rm(join(here.path, "home/.fairlead/server-skills"), { recursive: true });
    for (const name of ["pdf", "more"]) {
      const refused = await here.run("skills", "show", `docs/${name}`);
      expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("changed") });
      expect(refused.stdout).not.toContain("Do it.");
      expect(await here.run("skills", "show", `docs/${name}`, "--yes")).toMatchObject({ code: 0 });
      expect(await here.run("skills", "show", `docs/${name}`)).toMatchObject({ code: 6 });
    }
    expect(await here.run("lock", "update", "docs")).toMatchObject({ code: 0 });
    expect(await here.run("skills", "show", "docs/pdf")).toMatchObject({ code: 0 });
  });
});
