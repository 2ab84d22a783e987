/** A person adds a server of a registry in the console: the real command, the real npm, and registries on loopback. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { splitShellLine } from "@fairlead/core/settings";
import { chromiumProgram, hasBubblewrap, openChromium, type PublishedItem, published } from "@fairlead/test-servers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userFile } from "../support/machine.ts";
import { type WeatherRegistries, weatherItem, weatherName, weatherRegistries } from "../support/published-weather.ts";
import { type ConsoleScene, consoleScene, go, hasFocus, pressWhenReady, reach } from "./console-scene.ts";

const subject = "adding servers in the console";
const canBox = hasBubblewrap(subject);
const named = (name: string, item: PublishedItem): PublishedItem => ({ ...item, server: { ...item.server, name } });

let scene: ConsoleScene;
let page: Page;
let registries: WeatherRegistries;

beforeAll(async () => {
  if (chromiumProgram === undefined) return;
  registries = await weatherRegistries({
    items: [
      weatherItem("1.2.0"),
      named("io.github.evil/weather", weatherItem("1.2.0")),
      published({
        name: "io.github.acme/remote",
        version: "2.0.0",
        description: "Forecasts of a service.",
        remotes: [{ type: "streamable-http", url: "http://127.0.0.1:9/mcp" }],
      }),
      named("io.github.acme/gone", weatherItem("1.2.0", { status: "deleted", statusMessage: "malware" })),
    ],
  });
  scene = await consoleScene(
    subject,
    {},
    {
      settings: { fairlead: { registries: [registries.registry.origin] } },
      env: { FAIRLEAD_SECRET_STORE: "file" },
    },
  );
  await scene.here.write("home/.npmrc", registries.npmrc);
  ({ page } = scene);
});
afterAll(async () => {
  if (chromiumProgram === undefined) return;
  await scene[Symbol.asyncDispose]();
  await registries[Symbol.asyncDispose]();
});
// Says that Chromium is absent. Without tests to run, `beforeAll` is not called.
if (chromiumProgram === undefined) await openChromium(subject);

const shown = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

describe.runIf(chromiumProgram !== undefined)("the view Add", () => {
  test("the package of another server and a deleted server cannot be added", async () => {
    await go(page, "#/add/io.github.evil%2Fweather");
    await shown(`the package belongs to another server, ${weatherName}, by the mcpName`);
    expect(await page.getByRole("button", { name: "Show what will run" }).count()).toBe(0);
    await go(page, "#/add/io.github.acme%2Fgone");
    await shown(/is deleted from the registry .*: malware/);
    expect(await page.getByRole("button", { name: "Show what will run" }).count()).toBe(0);
  });

  test("a person finds a server, sees exactly what will run, adds it by keyboard, and it works", async () => {
    const { here } = scene;
    const notes = join(here.home, "notes");
    await mkdir(notes);
    await go(page, "#/add");
    await page.keyboard.press("Tab");
    await reach(page, "searchbox", "Words of the server's name, title or description");
    await page.keyboard.type("weather");
    await page.keyboard.press("Enter");
    await reach(page, "link", weatherName);
    await page.keyboard.press("Enter");
    await shown("proven: the mcpName of its package.json names this server");
    await reach(page, "textbox", /^folder/);
    await page.keyboard.type("~/notes");
    await page.keyboard.press("Tab");
    await page.keyboard.type("s3cret");
    await page.getByLabel("For", { exact: true }).selectOption("user");
    if (!canBox) await page.getByLabel("Sandbox", { exact: true }).selectOption("off");
    await reach(page, "button", "Show what will run");
    await page.keyboard.press("Enter");
    await shown(`npx -y @acme/weather@1.2.0 ${notes}`);
    await shown("WEATHER_KEY, to the secret store");
    expect(registries.npm.fetched()).toBe(0);
    const copied = await page.locator(".add-form .copy-command bdi").textContent();
    if (canBox) await shown(`in a sandbox: read ${notes}`);
    else await page.getByLabel("It runs without a sandbox").press("Space");
    await reach(page, "button", "Add the server");
    await pressWhenReady(page);
    await page.getByRole("button", { name: /fairlead mcp remove -s user weather/ }).waitFor();
    await hasFocus(page);
    // The real npx installs the package, and the page says what each step of connecting found.
    await page.locator(".test-steps").getByText("result").waitFor();
    expect(await page.locator(".test-steps").textContent()).not.toContain("failed");
    expect(await page.content()).not.toContain("s3cret");
    const { mcpServers, fairlead } = JSON.parse(await here.read(userFile));
    expect(mcpServers.weather).toMatchObject({
      command: "npx",
      args: ["-y", "@acme/weather@1.2.0", notes],
      env: { WEATHER_KEY: "${secret:WEATHER_KEY}" },
    });
    const sandbox = canBox ? { read: [notes] } : "off";
    expect(fairlead.servers.weather).toMatchObject({ sandbox, origin: { name: weatherName, version: "1.2.0" } });
    // The host has read the settings again.
    await go(page, "#/servers/weather");
    await page.getByRole("heading", { name: "weather" }).first().waitFor();
    const { code } = await here.run("mcp", "remove", "-s", "user", "weather");
    expect(code).toBe(0);
    // The command that the page shows writes the same.
    const line = splitShellLine(copied ?? "");
    const words = line.kind === "words" ? line.words.slice(1) : [];
    expect(words).not.toContain("s3cret");
    const again = await here.run(...words, "--input", "WEATHER_KEY=s3cret", "--yes", "--no-test");
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("mcp remove -s user weather")]);
    const written = JSON.parse(await here.read(userFile));
    expect(written.mcpServers.weather.args).toEqual(mcpServers.weather.args);
    expect(written.fairlead.servers.weather.sandbox).toEqual(fairlead.servers.weather.sandbox);
    expect(scene.complaints).toEqual([]);
    expect(scene.foreign).toEqual([]);
  });

  test("a remote server is added to the project and approved; the page says that it cannot be reached", async () => {
    const { here } = scene;
    await go(page, "#/add/io.github.acme%2Fremote");
    expect(await page.getByLabel("Sandbox", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Show what will run" }).press("Enter");
    await shown("remote: nothing runs on this machine");
    await reach(page, "button", "Add the server");
    await pressWhenReady(page);
    await page.getByRole("button", { name: /fairlead mcp remove -s project remote/ }).waitFor();
    // A server that is not approved is not tested.
    await page.locator(".test-steps").getByText("failed").first().waitFor();
    expect((await here.run("mcp", "remove", "-s", "project", "remote")).code).toBe(0);
  });

  test("without a network, what is on disk is shown with its age; of a server without an answer there is nothing", async () => {
    await registries.registry[Symbol.asyncDispose]();
    await go(page, "#/now");
    await go(page, "#/add?search=weather");
    await shown(/cannot be reached: .*; shown as of \d+ s ago/);
    await page.getByRole("link", { name: weatherName }).waitFor();
    await go(page, "#/add/io.github.acme%2Funknown");
    await shown(/cannot be reached/);
  });
});
