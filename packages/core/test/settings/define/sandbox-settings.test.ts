import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, serverOf, type World } from "../../support/load-settings.ts";

const own = { mcpServers: { s: { command: "x" } } };
const servers = (sandbox: unknown) => ({ fairlead: { servers: { s: { sandbox } } } });

async function sandboxOf(world: World, trusted = true) {
  const server = serverOf(await world.load({ trusted }), "s");
  const { sandbox } = server.definition ?? {};
  return {
    sandbox: sandbox && {
      read: sandbox.read,
      write: sandbox.write,
      hosts: sandbox.hosts,
      tcp: sandbox.tcp,
      env: sandbox.env,
    },
    errors: server.problems.filter(({ severity }) => severity === "error").map(({ message }) => message),
    isDefined: server.definition !== undefined,
  };
}

const nothing = { read: [], write: [], hosts: [], tcp: [], env: [] };

describe("the sandbox of the user's server", () => {
  test.each([
    ["nothing is said", undefined, undefined, undefined, undefined],
    ["on", "on", undefined, undefined, nothing],
    ["an empty object", {}, undefined, undefined, nothing],
    ["off", "off", undefined, undefined, undefined],
    ["the default is on", undefined, undefined, "on", nothing],
    ["off although the default is on", "off", undefined, "on", undefined],
    ["a workspace turns it on", undefined, "on", undefined, nothing],
    ["a workspace gives a profile, which is not its own to give", undefined, { read: ["/etc"] }, undefined, nothing],
    ["a workspace turns it off", "on", "off", undefined, nothing],
    ["a workspace turns off what is on by default", undefined, "off", "on", nothing],
  ])("%s", async (_, user, workspace, byDefault, expected) => {
    await using world = await createWorld();
    await world.writeUser({ ...own, fairlead: { sandbox: byDefault, servers: { s: { sandbox: user } } } });
    if (workspace !== undefined) await world.writeWorkspace(servers(workspace));
    expect(await sandboxOf(world)).toEqual({ sandbox: expected, errors: [], isDefined: true });
  });

  test("paths begin at home, hosts get the port of https, names are compared in lower case", async () => {
    await using world = await createWorld();
    const profile = {
      read: ["~/notes", "data/../pictures/", "/srv/x"],
      write: ["~/cache"],
      hosts: ["API.example.com", "*.example.org:8443", "127.0.0.1:80", "[::1]:80", "api.example.com."],
      tcp: ["db.example.com:5432"],
      env: ["GITHUB_TOKEN"],
    };
    await world.writeUser({ ...own, ...servers(profile) });
    expect((await sandboxOf(world)).sandbox).toEqual({
      read: [join(world.home, "notes"), join(world.home, "pictures"), "/srv/x"],
      write: [join(world.home, "cache")],
      hosts: ["api.example.com:443", "*.example.org:8443", "127.0.0.1:80", "[::1]:80"],
      tcp: ["db.example.com:5432"],
      env: ["GITHUB_TOKEN"],
    });
  });

  test.each([
    ["a word that is none of both", "onn"],
    ["a number", 1],
    ["true", true],
    ["a list", ["on"]],
    ["a text instead of a list", { read: "~" }],
    ["the root folder", { read: ["/"] }],
    ["the root folder, in disguise", { write: ["/tmp/.."] }],
    ["an empty path", { read: [" "] }],
    ["a path with a line break", { read: ["/a\nb"] }],
    ["a host with a scheme", { hosts: ["https://example.com"] }],
    ["a star alone", { hosts: ["*"] }],
    ["a port that is none", { hosts: ["example.com:99999"] }],
    ["an address in another spelling", { hosts: ["0x7f.1"] }],
    ["an address as one number", { hosts: ["2130706433"] }],
    ["tcp without a port", { tcp: ["db.example.com"] }],
    ["a variable with its value", { env: ["A=b"] }],
  ])("%s stops the server", async (_, sandbox) => {
    await using world = await createWorld();
    await world.writeUser({ ...own, ...servers(sandbox) });
    const found = await sandboxOf(world);
    expect([found.isDefined, found.errors.length > 0]).toEqual([false, true]);
  });

  test("a profile for a server with a URL has no effect, and a warning says so", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { url: "https://example.com/mcp" } }, ...servers("on") });
    const { definition, problems } = serverOf(await world.load(), "s");
    expect(definition?.sandbox).toBeUndefined();
    expect(problems.map(({ severity }) => severity)).toEqual(["warning"]);
  });
});

describe("the sandbox of a workspace's server", () => {
  test.each([
    ["its own profile", { write: ["out"] }, undefined, undefined, { ...nothing, write: ["out"] }],
    ["off", "off", undefined, undefined, undefined],
    ["off although the user's default is on", "off", undefined, "on", nothing],
    ["the user's word counts more", { read: ["/etc"] }, "on", undefined, nothing],
  ])("%s", async (_, workspace, user, byDefault, expected) => {
    await using world = await createWorld();
    await world.writeUser({ fairlead: { sandbox: byDefault, servers: { s: { sandbox: user } } } });
    await world.writeWorkspace({ ...own, ...servers(workspace) });
    const wanted = expected && { ...expected, write: expected.write.map((path) => join(world.root, path)) };
    expect((await sandboxOf(world)).sandbox).toEqual(wanted);
  });

  test("one that replaces the user's server gets nothing of the profile that the user wrote, and is not let out", async () => {
    await using world = await createWorld();
    await world.writeUser({ ...own, ...servers({ read: ["~/secret"], hosts: ["example.com"] }) });
    await world.writeWorkspace({ mcpServers: { s: { command: "other" } } });
    expect((await sandboxOf(world)).sandbox).toEqual(nothing);
  });

  test("VS Code's keys are understood", async () => {
    await using world = await createWorld();
    const sandbox = {
      filesystem: { allowWrite: ["${workspaceFolder}/out", "${userHome}/x"], denyRead: ["~/.ssh"] },
      network: { allowedDomains: ["*.example.com"] },
    };
    await world.writeWorkspace({ mcpServers: { s: { command: "x", sandboxEnabled: true, sandbox } } });
    expect((await sandboxOf(world)).sandbox).toEqual({
      ...nothing,
      write: [join(world.root, "out"), join(world.home, "x")],
      hosts: ["*.example.com:443"],
    });
  });
});

test.each([
  [{ network: { allowedDomains: ["*.example.com"], deniedDomains: ["bad.example.com"] } }, /denies "bad.example.com"/],
  [
    { network: { allowedDomains: ["a.example.com:8080"], deniedDomains: ["*.example.com"] } },
    /denies "\*.example.com"/,
  ],
  [{ filesystem: { allowWrite: ["~/notes"], denyRead: ["${userHome}/notes/secret"] } }, /denies ".*secret"/],
  [{ filesystem: { allowWrite: ["~/notes"], denyWrite: ["~"] } }, /denies "~"/],
  [{ filesystem: { allowWrite: ["~/notes"], denyWrite: ["**/.env"] } }, /denies "\*\*\/.env"/],
])("what VS Code's profile denies in what it allows stops the server: %j", async (sandbox, message) => {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { s: { command: "x", sandboxEnabled: true, sandbox } } });
  const { definition, problems } = serverOf(await world.load(), "s");
  expect([definition, problems]).toEqual([undefined, [expect.objectContaining({ severity: "error" })]]);
  expect(problems[0]?.message).toMatch(message);
});

test("the profile is part of the fingerprint, in any order; without one the fingerprint is what it was", async () => {
  await using world = await createWorld();
  const fingerprint = async (sandbox: unknown) => {
    await world.writeUser({ ...own, ...servers(sandbox) });
    return serverOf(await world.load(), "s").definition?.fingerprint;
  };
  const [none, off, on, wide, wider, reordered] = [
    await fingerprint(undefined),
    await fingerprint("off"),
    await fingerprint("on"),
    await fingerprint({ read: ["/a", "/b"] }),
    await fingerprint({ read: ["/a", "/b"], hosts: ["example.com"] }),
    await fingerprint({ read: ["/b", "/a"] }),
  ];
  expect(off).toBe(none);
  expect(new Set([none, on, wide, wider]).size).toBe(4);
  expect(reordered).toBe(wide);
});
