import { expect, test } from "vitest";
import { type Ending, machine, projectFile, userFile } from "../../support/machine.ts";

const user = "/home/.gemini/settings.json";
const project = "/project/.gemini/settings.json";

test("the user sees which entry was removed, from which file, and the command that restores it or why there is none", async () => {
  await using here = await machine({
    "etc/settings.json": { mcpServers: { sys: { command: "s" } } },
    [userFile]: {
      mcpServers: {
        secret: { command: "x", args: ["--token", "sk-canary-4711"] },
        both: { command: "y" },
        off: { command: "z" },
        on: { command: "z" },
        odd: 7,
        "no\u200bname": { command: "z" },
        hidden: { command: "z\u200b" },
      },
      mcp: { serverCommand: "run it" },
      fairlead: { servers: { off: { enabled: false }, on: { start: "lazy" }, both: { start: "lazy" } } },
    },
    [projectFile]: {
      mcpServers: { both: { command: "y2" }, p: { command: "p" } },
      fairlead: { servers: { p: { enabled: false } } },
    },
  });
  const removed = async (...words: readonly string[]): Promise<Ending> => {
    const { code, stdout, stderr } = await here.run("mcp", "remove", ...words);
    return { code, stdout: stdout.replaceAll(here.path, ""), stderr: stderr.replaceAll(here.path, "") };
  };
  const refusals: Readonly<Record<string, string>> = {
    both: `"both" is in both the user's and the project's settings
  next: fairlead mcp remove -s project both or: fairlead mcp remove -s user both`,
    sys: `"sys" is in /etc/settings.json, a system file that Fairlead does not edit\n  next: fairlead mcp disable sys`,
    mcp: `the server "mcp" has no entry: mcp.serverCommand defines it in ${user}:28
  next: remove "serverCommand" from "mcp" in ${user}:28, or: fairlead mcp disable mcp`,
    nope: 'no server "nope" is configured\n  next: fairlead mcp list',
    "-s user nope": `"nope" is not in ${user}\n  next: fairlead mcp list`,
    "-s project mcp": `"mcp" is not in ${project}\n  next: fairlead mcp list`,
  };
  for (const [words, text] of Object.entries(refusals))
    expect(await removed(...words.split(" ")), words).toEqual({ code: 2, stdout: "", stderr: `fairlead: ${text}\n` });

  const removals: readonly (readonly [words: string, stdout: string, stderr: string])[] = [
    [
      "secret",
      `removed "secret" from ${user} (user)`,
      "cannot be undone: the entry had literal values that may be secrets, and the output is not a terminal",
    ],
    [
      "off",
      `removed "off" from ${user} (user)`,
      `also removed: fairlead.servers.off, which was {"enabled":false}
undo: fairlead mcp add --replace -s user off '{"command":"z"}' && fairlead mcp disable off`,
    ],
    [
      "on",
      `removed "on" from ${user} (user)`,
      `also removed: fairlead.servers.on, which was {"start":"lazy"}
undo: fairlead mcp add --replace -s user on '{"command":"z"}'`,
    ],
    ["odd", `removed "odd" from ${user} (user)`, "cannot be undone: the previous value was not an object"],
    [
      "no\u200bname",
      `removed "no⟨U+200B⟩name" from ${user} (user)`,
      expect.stringMatching(/^cannot be undone: fairlead mcp add would refuse the previous entry: its name /) as string,
    ],
    [
      "hidden",
      `removed "hidden" from ${user} (user)`,
      `undo: fairlead mcp add --replace -s user hidden '{"command":"z\\u200b"}'`,
    ],
    [
      "p",
      `removed "p" from ${project} (workspace)`,
      `also removed: fairlead.servers.p, which was {"enabled":false}
undo: fairlead mcp add --replace --no-approve -s project p '{"command":"p"}' && fairlead mcp disable p`,
    ],
    [
      "-s user both",
      `removed "both" from ${user} (user)`,
      `undo: fairlead mcp add --replace -s user both '{"command":"y"}'`,
    ],
  ];
  for (const [words, stdout, stderr] of removals) {
    const ending = await removed(...words.split(" "));
    expect({ ...ending, stderr: ending.stderr.trimEnd() }, words).toEqual({ code: 0, stdout: `${stdout}\n`, stderr });
  }
  expect(JSON.parse((await removed("both", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    name: "both",
    scope: "workspace",
    file: project,
    removed: true,
    undo: `fairlead mcp add --replace --no-approve -s project both '{"command":"y2"}'`,
  });
  expect(JSON.parse(await here.read(userFile))).toEqual({
    mcpServers: {},
    mcp: { serverCommand: "run it" },
    fairlead: { servers: { both: { start: "lazy" } } },
  });
  expect(JSON.parse(await here.read(projectFile))).toEqual({ mcpServers: {}, fairlead: { servers: {} } });
});

test("the command that restores an approved entry of the project approves it again", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { p: { command: "p" } } } });
  await here.run("trust", "add", "--yes");
  expect((await here.run("mcp", "remove", "p", "-C", here.project)).stderr).toBe(
    `undo: fairlead mcp add -C ${here.project} --replace -s project p '{"command":"p"}'\n`,
  );
  expect((await here.run("trust", "list")).stdout).toContain("approved servers:\n  none\n");
});
