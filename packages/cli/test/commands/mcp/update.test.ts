import { splitShellLine } from "@fairlead/core/settings/shell-line";
import { expect, test } from "vitest";
import { type Machine, userFile } from "../../support/machine.ts";
import { type PublishedWeather, publishedWeather, weatherItem, weatherName } from "../../support/published-weather.ts";

async function withWeather(): Promise<PublishedWeather> {
  const here = await publishedWeather();
  const inputs = ["--input", "folder=~/notes", "--input", "WEATHER_KEY=s3cret"];
  await here.run("mcp", "add", weatherName, "-s", "user", "--no-test", "--sandbox", "off", "--yes", ...inputs);
  return here;
}

const newer = [weatherItem("1.3.0"), weatherItem("1.2.0", { isLatest: false })];

async function entry(here: Machine): Promise<unknown> {
  const { mcpServers, fairlead } = JSON.parse(await here.read(userFile)) as {
    mcpServers: { weather: { args: string[] } };
    fairlead: { servers: { weather: { origin: { version: string } } } };
  };
  return [mcpServers.weather.args[1], fairlead.servers.weather.origin.version];
}

test("the user sees which servers have newer versions, and which are deprecated or deleted", async () => {
  await using here = await withWeather();
  const states: string[] = [];
  for (const items of [
    [weatherItem("1.2.0")],
    newer,
    [weatherItem("1.3.0"), weatherItem("1.2.0", { isLatest: false, status: "deprecated", statusMessage: "Use 1.3." })],
    [weatherItem("1.2.0", { status: "deleted", statusMessage: "malware" })],
    [weatherItem("1.3.0")],
  ]) {
    here.registry.items = items;
    states.push((await here.run("mcp", "outdated")).stdout);
  }
  expect(states).toEqual([
    "weather  1.2.0  newest\n",
    "weather  1.2.0  newer: 1.3.0\n  next: fairlead mcp update weather\n",
    "weather  1.2.0  deprecated: Use 1.3.\n  next: fairlead mcp update weather\n",
    "weather  1.2.0  deleted from the registry: malware\n  next: fairlead mcp remove weather\n",
    "weather  1.2.0  unknown: the registry has no version 1.2.0 of it\n",
  ]);
});

test("without network, the last answer is shown with its age; where there is none, the exit code is 4", async () => {
  await using here = await withWeather();
  const { origin } = here.registry;
  await here.registry[Symbol.asyncDispose]();

  const kept = await here.run("mcp", "outdated", "--json");
  const text = (await here.read(userFile)).replaceAll(origin, "http://127.0.0.1:9");
  await here.write(userFile, text);
  const nothing = await here.run("mcp", "outdated");

  expect(JSON.parse(kept.stdout)).toMatchObject({
    servers: [
      { name: "weather", published: weatherName, version: "1.2.0", status: "current", age: expect.any(Number) },
    ],
    unpinned: [],
  });
  expect([nothing.code, nothing.stderr.trim().split("\n")]).toEqual([4, [expect.stringContaining("127.0.0.1:9")]]);
  // The registry is closed already.
  Object.assign(here.registry, { [Symbol.asyncDispose]: async () => {} });
});

test("doctor warns of deprecated and deleted servers", async () => {
  await using here = await withWeather();
  here.registry.items = [weatherItem("1.2.0", { status: "deleted", statusMessage: "malware" })];

  const { stdout } = await here.run("doctor", "weather", "--json");

  const { findings } = JSON.parse(stdout) as { findings: { group: string }[] };
  expect(findings.filter(({ group }) => group === "packages")).toContainEqual({
    group: "packages",
    severity: "warning",
    server: "weather",
    message: `weather: ${weatherName} 1.2.0 is deleted from its registry, usually because it is malware or spam: malware`,
    next: "fairlead mcp remove weather",
  });
});

test("an update shows what changes, keeps the answers, and its undo line goes back", async () => {
  await using here = await withWeather();
  here.registry.items = newer;

  const asked = await here.run("mcp", "update", "weather");
  const { code, stderr } = await here.run("mcp", "update", "weather", "--yes", "--no-test");
  const updated = await entry(here);
  const undo = /undo: fairlead (.*)\n/.exec(stderr)?.[1]?.split(" ") ?? [];
  await here.run(...undo, "--no-test");

  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("next: add --yes")]);
  expect([code, updated]).toEqual([0, ["@acme/weather@1.3.0", "1.3.0"]]);
  expect(stderr).toContain(
    `  - args  -y @acme/weather@1.2.0 ${here.notes}\n  + args  -y @acme/weather@1.3.0 ${here.notes}\n`,
  );
  expect(stderr).not.toContain("s3cret");
  expect(await entry(here)).toEqual(["@acme/weather@1.2.0", "1.2.0"]);
  expect((await here.run("mcp", "update", "weather", "--to", "1.2.0")).stderr).toContain("has this version already");
});

test("an update asks for a new required input, and keeps the user's own options of the entry", async () => {
  await using here = await withWeather();
  const text = await here.read(userFile);
  await here.write(userFile, text.replace('"command": "npx"', '"timeout": 5000, "command": "npx"'));
  const inputs = [{ name: "CITY", isRequired: true }];
  here.registry.items = [weatherItem("1.3.0", {}, { environmentVariables: inputs })];

  const missing = await here.run("mcp", "update", "weather", "--yes");
  const { code } = await here.run("mcp", "update", "weather", "--yes", "--no-test", "--input", "CITY=Bern");

  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("missing inputs: CITY")]);
  expect([code, JSON.parse(await here.read(userFile))]).toMatchObject([
    0,
    { mcpServers: { weather: { timeout: 5000, env: { CITY: "Bern" } } } },
  ]);
});

test("a version that is deleted or of another kind is refused, and so is a server that comes from no registry", async () => {
  await using here = await withWeather();
  here.registry.items = [
    weatherItem("1.3.0", { status: "deleted" }),
    weatherItem("1.4.0", { isLatest: false }, { registryType: "pypi", identifier: "acme-weather" }),
  ];
  await here.run("mcp", "add", "-s", "user", "--no-test", "mine", "run");

  const results = [
    await here.run("mcp", "update", "weather", "--yes"),
    await here.run("mcp", "update", "weather", "--to", "1.4.0", "--yes"),
    await here.run("mcp", "update", "mine"),
  ];

  expect(results.map(({ code, stderr }) => [code, stderr.split("\n", 1)[0]])).toEqual([
    [6, expect.stringContaining("is deleted")],
    [2, expect.stringContaining("no longer published as npm")],
    [2, expect.stringContaining("does not come from a registry")],
  ]);
});

test("what is removed comes back with its origin, so that it can be updated again", async () => {
  await using here = await withWeather();
  here.registry.items = newer;
  const before: unknown = JSON.parse(await here.read(userFile));

  const { stderr } = await here.run("mcp", "remove", "weather");
  const split = splitShellLine(/^undo: fairlead (.*)$/m.exec(stderr)?.[1] ?? "");
  const undo = split.kind === "words" ? split.words.map((word) => word.replaceAll("$$", "$")) : [];
  await here.run(...undo.slice(0, 2), "--no-test", ...undo.slice(2));

  expect(undo).toContain("--origin");
  expect(JSON.parse(await here.read(userFile))).toEqual(before);
  expect((await here.run("mcp", "outdated")).stdout).toContain("newer: 1.3.0");
});

test("another entry of the same name does not come from the registry any more, until it is undone", async () => {
  await using here = await withWeather();
  const before: unknown = JSON.parse(await here.read(userFile));

  const { stderr } = await here.run("mcp", "add", "--replace", "--no-test", "-s", "user", "weather", "mine");
  const outdated = await here.run("mcp", "outdated", "--json");
  const split = splitShellLine(/^undo: fairlead (.*)$/m.exec(stderr)?.[1] ?? "");
  const undo = split.kind === "words" ? split.words.map((word) => word.replaceAll("$$", "$")) : [];
  await here.run(...undo.slice(0, 2), "--no-test", ...undo.slice(2));

  expect(JSON.parse(outdated.stdout)).toMatchObject({ servers: [] });
  expect(JSON.parse(await here.read(userFile))).toEqual(before);
});

test("--origin that is no object is refused, and it does not work with a name of a registry", async () => {
  await using here = await withWeather();
  const bad = await here.run("mcp", "add", "--origin", "x", "other", "mine");
  const named = await here.run("mcp", "add", "--origin", "{}", weatherName, "--yes");
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('--origin "x" is not a JSON object')]);
  expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("--origin does not work with a server")]);
});
