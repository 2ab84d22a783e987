import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { library } from "../support/library.ts";
import { machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const demoText = `demo: 2 resources, 1 template

  demo://about (About this server, text/plain)
      What a fairlead is.

  demo://picture (A picture of waves, image/png)
      A small PNG.

  demo://knots/{name} --arg name=… (A knot, text/plain)
      What a knot is good for: bowline, clove-hitch, cleat-hitch, figure-eight, reef-knot, sheet-bend.
`;

test.each([[["resources"]], [["resources", "demo"]]])(
  "with nothing configured, %j lists what the demo server has, and something to read",
  async (argv) => {
    await using here = await machine();
    expect(await here.run(...argv)).toEqual({
      code: 0,
      stdout: demoText,
      stderr: "\nTry: fairlead read demo://about\n",
    });
    expect(await here.run(...argv, "--quiet")).toEqual({ code: 0, stdout: demoText, stderr: "" });
  },
);

test("--json has what servers say of each, and the variables of templates", async () => {
  await using here = await library({
    one: {
      resources: [{ uri: "one://a", name: "a", size: 2100, mimeType: "text/plain", title: "A", description: "D" }],
      resourceTemplates: [{ uriTemplate: "one://{x}{?y,z*}", name: "t" }],
    },
  });
  const { stdout } = await here.run("resources", "--json");
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    resources: [
      { server: "one", uri: "one://a", name: "a", title: "A", description: "D", mimeType: "text/plain", size: 2100 },
    ],
    resourceTemplates: [
      {
        server: "one",
        uriTemplate: "one://{x}{?y,z*}",
        name: "t",
        variables: [
          { name: "x", required: true },
          { name: "y", required: false },
          { name: "z", required: false },
        ],
      },
    ],
  });
});

test("each server has its own list; sizes are in words; what may be left out of a template is in brackets", async () => {
  await using here = await library({
    one: { resources: [{ uri: "one://a", name: "a", size: 2100, description: "First.\n\nSecond." }] },
    two: {
      resources: [{ uri: "one://a", name: "a", mimeType: "text/plain" }],
      resourceTemplates: [
        { uriTemplate: "two://{x}{?y}", name: "t" },
        { uriTemplate: "two://{broken", name: "broken" },
      ],
    },
    none: { prompts: [{ name: "p" }] },
  });
  expect(await here.run("resources")).toEqual({
    code: 0,
    stdout: `one: 1 resource

  one:one://a (a, 2.1 kB)
      First. …

two: 1 resource, 2 templates

  two:one://a (a, text/plain)

  two://{x}{?y} --arg x=… [--arg y=…] (t)

  two://{broken (broken) [unusable: the template has a "{" without a "}"]
`,
    stderr: "\nTry: fairlead read one:one://a\n",
  });
  expect(JSON.parse((await here.run("resources", "two", "--json")).stdout).resourceTemplates[1]).toEqual({
    server: "two",
    uriTemplate: "two://{broken",
    name: "broken",
    unusable: 'the template has a "{" without a "}"',
    variables: [],
  });
  expect(await here.run("read", "two:two://{broken")).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: two://{broken of "two" is unusable: the template has a "{" without a "}"\n  next: fairlead resources two\n`,
  });
  expect(await here.run("resources", "none")).toEqual({
    code: 0,
    stdout: "",
    stderr: "No resources to show. To see some: fairlead resources demo\n",
  });
});

describe("servers that are known from an earlier run", () => {
  test("are not started, until --refresh", async () => {
    await using here = await library({ one: { resources: [{ uri: "one://a", name: "a" }] } });
    await here.run("resources");
    await here.fill("one", { resources: [{ uri: "one://b", name: "b" }] });
    expect((await here.run("resources")).stdout).toContain("one://a");
    expect(await here.starts("one")).toBe(1);
    expect((await here.run("resources", "one", "--refresh")).stdout).toContain("one://b");
    expect((await here.run("resources")).stdout).toContain("one://b");
  });

  test("are shown with their age after a day", async () => {
    await using here = await library({ one: { resources: [{ uri: "one://a", name: "a" }] } });
    await here.run("resources");
    const folder = "home/.fairlead/catalogs";
    const [file = ""] = await readdir(join(here.path, folder));
    const old = (await here.read(`${folder}/${file}`)).replace(
      /("savedAt": ?)(\d+)/,
      (_, key: string, time: string) => `${key}${Number(time) - 73 * 60 * 60 * 1000}`,
    );
    await here.write(`${folder}/${file}`, old);
    expect((await here.run("resources")).stderr).toMatch(
      /^catalog of "one" cached 3 days ago; add --refresh to read it again\n/,
    );
  });
});

test("a server that cannot be asked is named, and an error if it alone is meant", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { github: { command: "no-such-program" } } } });
  const all = await here.run("resources");
  expect(all).toMatchObject({ code: 0, stdout: "" });
  expect(all.stderr).toMatch(/^"github" did not start: .*\n {2}next: /);
  expect(await here.run("resources", "github")).toMatchObject({ code: 4, stdout: "" });
  expect(await here.run("resources", "githbu")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "github"?'),
  });
});

test("what a server says can neither move the cursor nor hide", async () => {
  const odd = "a\u001b[2J\u202e\u200b\nb";
  await using here = await library({
    one: {
      resources: [{ uri: `one://${odd}`, name: odd, title: odd, description: odd, mimeType: odd }],
      resourceTemplates: [{ uriTemplate: `one://${odd}{x}`, name: odd }],
    },
  });
  for (const form of [[], ["--json"]]) {
    const { stdout, stderr } = await here.run("resources", ...form);
    expect(stdout).toContain("one://");
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  }
});

test("a server can be typed instead of configured", async () => {
  await using here = await library({ one: { resources: [{ uri: "one://a", name: "a" }] } });
  const line = commandLine(stdioServer("library", join(here.path, "one.json")));
  const typed = ["--stdio", line, "--name", "typed"];
  expect(await here.run("resources", ...typed)).toEqual({
    code: 0,
    stdout: "typed: 1 resource\n\n  one://a (a)\n",
    stderr: "",
  });
});

test("on a terminal lines are broken to fit", async () => {
  const resources = Array.from({ length: 3 }, (_, at) => ({
    uri: `one://${"long/".repeat(20)}${at}`,
    name: "x",
    title: "words ".repeat(10).trim(),
  }));
  await using here = await library({ one: { resources } });
  await using terminal = openTerminal(here, "resources", "--quiet");
  expect(await terminal.exitCode).toBe(0);
  for (const line of terminal.screen().split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  expect(terminal.screen()).toContain(`  one://${"long/".repeat(20)}0\n    (words words`);
});
