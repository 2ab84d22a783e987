import { hasBubblewrap, published } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, userFile } from "../../support/machine.ts";
import { publishedWeather, weatherItem, weatherName } from "../../support/published-weather.ts";

const canBox = hasBubblewrap("mcp add of a server in a registry");
const folder = ["--input", "folder=~/notes"];
const inputs = [...folder, "--input", "WEATHER_KEY=s3cret"];

async function settings(here: Machine): Promise<{
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  readonly fairlead: { readonly servers?: Readonly<Record<string, unknown>> };
}> {
  return JSON.parse(await here.read(userFile));
}

describe("in a script", () => {
  test("the entry has the exact version, its origin and its sandbox; the secret is in the secret store", async () => {
    await using here = await publishedWeather();

    const sandbox = canBox ? [] : ["--sandbox", "off"];
    const { code, stderr } = await here.run(
      "mcp",
      "add",
      weatherName,
      "-s",
      "user",
      "--no-test",
      "--yes",
      ...sandbox,
      ...inputs,
    );

    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`runs        npx -y @acme/weather@1.2.0 ${here.notes}\n`),
    ]);
    expect(stderr).toContain("package     proven: the mcpName of its package.json names this server");
    expect(stderr).toContain("undo: fairlead mcp remove -s user weather");
    expect(stderr).not.toContain("s3cret");
    const { mcpServers, fairlead } = await settings(here);
    expect(mcpServers).toEqual({
      weather: {
        command: "npx",
        args: ["-y", "@acme/weather@1.2.0", here.notes],
        // The sandbox hides ~/.npmrc, which leads to this registry.
        env: {
          ...(canBox && { npm_config_noproxy: "127.0.0.1", npm_config_registry: here.npm.origin }),
          WEATHER_KEY: "${secret:WEATHER_KEY}",
        },
      },
    });
    expect(fairlead.servers).toEqual({
      weather: {
        origin: {
          registry: here.registry.origin,
          name: weatherName,
          version: "1.2.0",
          kind: "npm",
          package: "@acme/weather",
          proof: "mcpName of its package.json",
          inputs: { folder: here.notes, WEATHER_KEY: "${secret:WEATHER_KEY}" },
        },
        sandbox: canBox ? { read: [here.notes], hosts: [new URL(here.npm.origin).host] } : "off",
      },
    });
    expect((await here.run("secret", "list")).stdout).toContain("WEATHER_KEY");
    expect(here.npm.fetched()).toBe(0);
    const undone = await here.run("mcp", "remove", "-s", "user", "weather");
    expect(undone.code).toBe(0);
    expect((await settings(here)).fairlead.servers ?? {}).toEqual({});
  });

  test.each([
    ["missing inputs are named", folder, 2, /missing inputs: WEATHER_KEY\n.*--input WEATHER_KEY=VALUE/],
    [
      "an input that does not exist is named",
      [...inputs, "--input", "COLOUR=red"],
      2,
      /no input "COLOUR"[\s\S]*folder, WEATHER_KEY, REGION/,
    ],
    ["an input without a value is refused", ["--input", "folder"], 2, /not of the form NAME=VALUE/],
    ["an option for commands is refused", [...inputs, "--cwd", "/tmp"], 2, /--cwd does not work/],
    ["a kind that the server does not have is refused", [...inputs, "--kind", "oci"], 2, /published as npm/],
    ["an unknown version is refused", [...inputs, "@9.9.9"], 2, /has no version 9\.9\.9/],
    ["a range is refused", [...inputs, "@^1.0.0"], 2, /not one exact version/],
  ])("%s, and nothing is written", async (_, argv, exit, message) => {
    await using here = await publishedWeather();
    const version = argv.find((word) => word.startsWith("@")) ?? "";
    const words = argv.filter((word) => word !== version);

    const { code, stderr } = await here.run("mcp", "add", `${weatherName}${version}`, "-s", "user", "--yes", ...words);

    expect([code, stderr]).toEqual([exit, expect.stringMatching(message)]);
    expect((await settings(here)).mcpServers).toBeUndefined();
    expect((await here.run("secret", "list")).stdout).not.toContain("WEATHER");
  });

  test("without --yes nothing is added, but what would run is shown", async () => {
    await using here = await publishedWeather();
    const { code, stderr } = await here.run("mcp", "add", weatherName, "--sandbox", "off", ...inputs);
    expect([code, stderr]).toEqual([2, expect.stringContaining("next: add --yes")]);
    expect(stderr).toContain("npx -y @acme/weather@1.2.0");
  });

  test("a package that names no server is unproven and needs --unproven", async () => {
    await using here = await publishedWeather({ mcpName: null });
    const words = [...inputs, "--sandbox", "off", "--no-test", "-s", "user", "--yes"];

    const refused = await here.run("mcp", "add", weatherName, ...words);
    const added = await here.run("mcp", "add", weatherName, ...words, "--unproven");

    expect([refused.code, refused.stderr]).toEqual([
      6,
      expect.stringContaining("is unproven: the package names no server"),
    ]);
    expect(refused.stderr).toContain("--unproven");
    expect(added.code).toBe(0);
    expect((await settings(here)).fairlead.servers).toMatchObject({ weather: { origin: { proof: "none" } } });
  });

  test("a package that names another server is refused, also with --unproven", async () => {
    await using here = await publishedWeather({ mcpName: "io.github.evil/weather" });
    const { code, stderr } = await here.run(
      "mcp",
      "add",
      weatherName,
      ...inputs,
      "--sandbox",
      "off",
      "--yes",
      "--unproven",
      "-s",
      "user",
    );
    expect([code, stderr]).toEqual([6, expect.stringContaining("belongs to another server, io.github.evil/weather")]);
    expect((await settings(here)).mcpServers).toBeUndefined();
  });

  test("a deleted server is refused, and a deprecated one shows its message", async () => {
    await using here = await publishedWeather({
      items: [weatherItem("1.2.0", { status: "deleted", statusMessage: "malware", isLatest: false })],
    });
    const deleted = await here.run("mcp", "add", `${weatherName}@1.2.0`, "--yes");
    here.registry.items = [weatherItem("1.2.0", { status: "deprecated", statusMessage: "Use weather2." })];
    const deprecated = await here.run(
      "mcp",
      "add",
      weatherName,
      ...inputs,
      "--sandbox",
      "off",
      "--yes",
      "--no-test",
      "-s",
      "user",
    );

    expect([deleted.code, deleted.stderr]).toEqual([6, expect.stringContaining("malware")]);
    expect([deprecated.code, deprecated.stderr]).toEqual([0, expect.stringContaining("deprecated: Use weather2.")]);
  });

  test("a name that is taken needs another, with --name", async () => {
    await using here = await publishedWeather();
    await here.write(userFile, {
      mcpServers: { weather: { command: "mine" } },
      fairlead: { registries: [here.registry.origin] },
    });
    const words = [...inputs, "--sandbox", "off", "--no-test", "--yes", "-s", "user"];

    const taken = await here.run("mcp", "add", weatherName, ...words);
    const other = await here.run("mcp", "add", weatherName, ...words, "--name", "forecasts");

    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining("--name NAME")]);
    expect(other.code).toBe(0);
    expect(Object.keys((await settings(here)).mcpServers ?? {})).toEqual(["weather", "forecasts"]);
  });

  test.runIf(canBox)("a folder that does not exist is named before anything is stored", async () => {
    await using here = await publishedWeather();
    const words = ["--input", "folder=missing", "--input", "WEATHER_KEY=s3cret", "--no-test", "--yes", "-s", "user"];
    const { code, stderr } = await here.run("mcp", "add", weatherName, ...words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/there is no \S+\/missing, and a sandbox shows only/)]);
    expect((await settings(here)).mcpServers).toBeUndefined();
    expect((await here.run("secret", "list", "--json")).stdout).not.toContain("WEATHER");
  });

  test("remotes and containers are shown as what they are, without a sandbox", async () => {
    await using here = await publishedWeather({
      items: [
        published({
          name: "com.example/remote",
          version: "1.0.0",
          remotes: [
            {
              type: "streamable-http",
              url: "https://weather.example/mcp",
              headers: [{ name: "X-Key", isRequired: true, isSecret: true }],
            },
          ],
        }),
      ],
    });

    const { code, stderr } = await here.run(
      "mcp",
      "add",
      "com.example/remote",
      "--input",
      "X-Key=k3y",
      "--yes",
      "--no-test",
      "-s",
      "user",
    );

    expect([code, stderr]).toEqual([0, expect.stringContaining("remote: nothing runs on this machine")]);
    expect(await settings(here)).toMatchObject({
      mcpServers: {
        remote: { httpUrl: "https://weather.example/mcp", headers: { "X-Key": "${secret:REMOTE_X_KEY}" } },
      },
      fairlead: { servers: { remote: { origin: { kind: "remote", package: "https://weather.example/mcp" } } } },
    });
  });

  test("text of a publisher expands no variable, not even of the person's own", async () => {
    await using here = await publishedWeather({
      items: [weatherItem("1.2.0", {}, { packageArguments: [{ type: "positional", value: "$HOME/${secret:OTHER}" }] })],
    });
    await here.run(
      "mcp",
      "add",
      weatherName,
      "--input",
      "WEATHER_KEY=a$HOME",
      "--sandbox",
      "off",
      "--yes",
      "--no-test",
      "-s",
      "user",
    );
    const shown = JSON.parse((await here.run("mcp", "get", "weather", "--json")).stdout) as unknown;
    expect((await settings(here)).mcpServers).toMatchObject({
      weather: { args: ["-y", "@acme/weather@1.2.0", "$$HOME/$${secret:OTHER}"] },
    });
    expect(shown).toMatchObject({ variables: [], problems: [] });
  });

  test("a command or URL is added as before, and options for a registry are refused there", async () => {
    await using here = await publishedWeather();
    const added = await here.run("mcp", "add", "-s", "user", "--no-test", "mine", "run");
    const refused = await here.run("mcp", "add", "-s", "user", "--no-test", "--kind", "npm", "other", "run");
    expect(added.code).toBe(0);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("--kind works only with the name of a server"),
    ]);
  });
});

test("the real npx installs and starts the server, and its tool gets the folder and the key", async () => {
  await using here = await publishedWeather();
  await here.write("home/notes/today.md", "sunny");

  const added = await here.run(
    "mcp",
    "add",
    weatherName,
    ...inputs,
    "--sandbox",
    "off",
    "--yes",
    "-s",
    "user",
    "--json",
  );
  const called = await here.run("call", "weather.forecast");

  expect(JSON.parse(added.stdout)).toMatchObject({
    servers: [{ name: "weather", test: { status: "connected", tools: 1 } }],
  });
  expect(called.stdout).toContain("today.md");
  expect(here.npm.fetched()).toBeGreaterThan(0);
});
