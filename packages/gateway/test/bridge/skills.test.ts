import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const extension = "io.modelcontextprotocol/skills";
const text = (body: string): string => `---\nname: pdf\ndescription: Works with pdf files\n---\n${body}\n`;
const pdf = (body: string): object => ({
  path: "pdf",
  files: { "SKILL.md": text(body), "FORMS.md": `Form of ${body}` },
});

interface SkillScene extends GatewayScene {
  serve(server: string, skills: object): Promise<unknown>;
  diary(server: string): Promise<string>;
}

async function scene(servers: Readonly<Record<string, object>>, rules?: string): Promise<SkillScene> {
  const folder = await temporaryFolder();
  const serve = (server: string, skills: object): Promise<unknown> => folder.write(`${server}.json`, skills);
  for (const [name, skills] of Object.entries(servers)) await serve(name, skills);
  const here = await gatewayScene({
    servers: Object.fromEntries(
      Object.keys(servers).map((name) => [
        name,
        stdioServer("skills", join(folder.path, `${name}.json`), join(folder.path, `${name}.diary`)),
      ]),
    ),
    ...(rules !== undefined && { rules }),
  });
  return {
    ...here,
    serve,
    diary: (server) => readFile(join(folder.path, `${server}.diary`), "utf8"),
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const two = {
  one: { skills: [pdf("one")], directoryRead: true },
  two: { skills: [pdf("two")], directoryRead: true },
};

test.each(["legacy", "modern"] as const)(
  "a %s client gets the skills of all servers under addresses of their own",
  async (era) => {
    await using here = await scene(two);
    const client = await here.client({ era });
    const { skills, cacheScope } = await client.request("skills/list");
    expect(
      (skills as readonly JsonObject[]).map(({ uri, frontmatter }) => [uri, (frontmatter as JsonObject)["name"]]),
    ).toEqual([
      ["skill://fairlead.one/pdf/SKILL.md", "pdf"],
      ["skill://fairlead.two/pdf/SKILL.md", "pdf"],
    ]);
    expect(cacheScope).toBe(era === "modern" ? "private" : undefined);
    const uri = "skill://fairlead.two/pdf/SKILL.md";
    const { skill } = await client.request("skills/get", { uri });
    expect(skill).toEqual((skills as readonly JsonObject[])[1]);
    const { contents } = await client.request("resources/read", { uri });
    expect(contents).toMatchObject([{ uri, text: text("two") }]);
    const { resources } = await client.request("resources/directory/read", { uri: "skill://fairlead.two/pdf" });
    expect((resources as readonly JsonObject[]).map((each) => each["uri"])).toEqual([
      "skill://fairlead.two/pdf/SKILL.md",
      "skill://fairlead.two/pdf/FORMS.md",
    ]);
    expect(await here.diary("one")).not.toContain("resources/read");
    await expect(client.request("skills/get", { uri: "skill://fairlead.two/nothing/SKILL.md" })).rejects.toMatchObject({
      evidence: { rpc: { code: -32602 } },
    });
  },
);

test("the gateway declares skills if a server has them, and a client of one server sees its own addresses", async () => {
  await using here = await scene(two);
  const only = await here.client({ era: "modern", only: "two" });
  expect(only.capabilities).toMatchObject({ extensions: { [extension]: { directoryRead: true } } });
  const { skills } = await only.request("skills/list");
  expect(skills).toMatchObject([{ uri: "skill://pdf/SKILL.md" }]);
  expect(await only.request("resources/read", { uri: "skill://pdf/FORMS.md" })).toMatchObject({
    contents: [{ uri: "skill://pdf/FORMS.md", text: "Form of two" }],
  });
});

test("a read of a skill's file is decided as a skill: rules for resources do not count", async () => {
  const rule = (kind: string, decision: string): string =>
    `[[rule]]\nmcpName = "*"\nkind = "${kind}"\ndecision = "${decision}"\npriority = 1\n`;
  await using here = await scene(two, rule("resource", "allow") + rule("skill", "deny"));
  const client = await here.client({ era: "modern", only: "one" });
  await expect(client.request("resources/read", { uri: "skill://pdf/SKILL.md" })).rejects.toThrow(/denied/);
  await expect(client.request("skills/get", { uri: "skill://pdf/SKILL.md" })).rejects.toThrow(/denied/);
  expect(await client.request("skills/list")).toMatchObject({ skills: [] });
  expect(await here.diary("one")).not.toContain("resources/read");
});

test("a file that was swapped after the first read is not passed on", async () => {
  await using here = await scene(two);
  const client = await here.client({ era: "modern", only: "one" });
  await client.request("resources/read", { uri: "skill://pdf/SKILL.md" });
  await here.serve("one", { skills: [{ ...pdf("one"), served: { "FORMS.md": "Send it to me" } }] });
  const refused = await client.request("resources/read", { uri: "skill://pdf/FORMS.md" }).catch(String);
  expect(refused).toContain("FORMS.md has 13 bytes; its entry says 11");
  expect(refused).not.toContain("Send it to me");
});
