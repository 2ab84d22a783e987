import { HostError } from "@fairlead/core/errors";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { FoundPublished, PlannedPublished, PublishedRow } from "../../src/protocol/adding.ts";
import type { Params } from "../../src/protocol/commands.ts";
import { axeViolations, go, hasChromium, useChromium } from "./support/console-window.ts";
import { deceptions } from "./support/deceptions.ts";
import { ScriptedSource } from "./support/scripted-source.ts";

const chromium = useChromium("console, adding servers");
const registry = "https://registry.example";
const day = 86_400_000;

function row(name: string, more: Partial<PublishedRow> = {}): PublishedRow {
  const common = {
    description: "Forecasts for the coast.",
    version: "1.2.0",
    kinds: ["npm"],
    status: "active",
  } as const;
  return { name, title: "Weather", publishedAt: Date.now() - 12 * day, registry, ...common, ...more };
}

const weather = row("io.github.acme/weather");
const rows = [
  weather,
  row("io.github.acme/old", { status: "deprecated", statusMessage: "use weather", kinds: ["npm", "remote"] }),
  row("io.github.evil/weather", { status: "deleted", statusMessage: "malware" }),
];

function foundOf(more: Partial<FoundPublished> = {}): Omit<FoundPublished, "offerId"> {
  return {
    server: weather,
    repository: "https://github.com/acme/weather",
    versions: ["1.2.0", "1.1.0"],
    ways: [
      { kind: "npm", label: "@acme/weather 1.2.0", runs: "program" },
      { kind: "oci", label: "docker.io/acme/weather:latest", runs: "container", unusable: "it has no exact version" },
    ],
    way: 0,
    proof: { kind: "proven", text: "proven: the mcpName of its package.json names this server" },
    inputs: [
      {
        name: "folder",
        description: "Your notes",
        kind: "file",
        choices: [],
        isRequired: true,
        isSecret: false,
        isRepeated: false,
      },
      {
        name: "WEATHER_KEY",
        description: "Your key",
        kind: "text",
        choices: [],
        isRequired: true,
        isSecret: true,
        isRepeated: false,
      },
      {
        name: "units",
        kind: "choice",
        choices: ["metric", "imperial"],
        isRequired: false,
        isSecret: false,
        isRepeated: false,
        default: "metric",
      },
    ],
    name: "weather",
    scopes: ["project", "user"],
    ...more,
  };
}

interface Script {
  readonly found?: Partial<FoundPublished>;
  readonly plan?: Partial<PlannedPublished>;
}

/** A host that plans and adds whatever the page sends. */
function addingSource({ found = {}, plan = {} }: Script = {}): ScriptedSource {
  let plans = 0;
  return new ScriptedSource(
    {},
    {
      "add/search": () => ({ servers: rows, registries: [registry], unreached: [], refused: 0, nextCursor: "c2" }),
      "add/find": () => ({ ...foundOf(found), offerId: "offer-1" }),
      "add/plan": ({ name }) => ({
        plan: `plan-${++plans}`,
        name,
        fields: [
          { label: "runs", values: ["npx -y @acme/weather@1.2.0 /home/ada/notes"] },
          { label: "where", values: ["in a sandbox: read /home/ada/notes"] },
        ],
        isUnproven: false,
        isUnboxed: false,
        ...plan,
      }),
      "add/write": () => ({
        name: "weather",
        file: "/home/ada/.gemini/settings.json",
        scope: "user",
        undo: "fairlead mcp remove -s user weather",
        mayStart: true,
        notes: ["stored the secret WEATHER_KEY"],
      }),
      "servers/test": () => ({ steps: [{ label: "result", isOk: true, text: "connected" }] }),
    },
  );
}

const detail = "#/add/io.github.acme%2Fweather";

async function showPlan(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "folder" }).fill("~/notes");
  await page.getByLabel(/^WEATHER_KEY/).fill("s3cret");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "What will run, exactly" }).waitFor();
}

/** Presses the button of the decision as soon as it can be pressed. The focus may move the page first. */
async function add(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add the server" }).focus();
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  await page.locator(".decision-ready :focus").waitFor({ state: "attached" });
  await page.keyboard.press("Space");
}

function sent(source: ScriptedSource, verb: string): readonly unknown[] {
  return source.commands.filter(([each]) => each === verb).map(([, params]) => params);
}

describe.runIf(hasChromium)("adding servers in Chromium", () => {
  test.each(["light", "dark"] as const)("axe finds nothing wrong, %s", async (colours) => {
    await using here = await chromium.open({ source: addingSource(), colours });
    const { page } = here;
    const found: string[] = [];
    const look = async (what: string): Promise<void> => {
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 740 });
        found.push(...(await axeViolations(page)).map((line) => `${what} ${width}: ${line}`));
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (beyond > 0) found.push(`${what}: ${beyond} pixels wider than the window of ${width}`);
      }
    };
    for (const view of ["#/add", "#/add?search=weather", detail]) {
      await go(page, view);
      await look(view);
    }
    await showPlan(page);
    await page.locator(".decision-ready").waitFor();
    await look("plan");
    await add(page);
    await page.locator(".test-steps").waitFor();
    await look("added");
    expect(found).toEqual([]);
    expect(here.complaints).toEqual([]);
  });

  test("a person searches, sees exactly what will run, and adds it, with the keyboard alone; Enter does not add", async () => {
    const source = addingSource();
    await using here = await chromium.open({ source, view: "#/add" });
    const { page } = here;
    await page.getByRole("searchbox").focus();
    await page.keyboard.type("weather");
    await page.keyboard.press("Enter");
    const link = page.getByRole("link", { name: "io.github.acme/weather" });
    await link.waitFor();
    await page.getByText("fairlead mcp search weather").waitFor();
    await page.getByText("12 d old").first().waitFor();
    await link.press("Enter");
    await page.getByText("proven: the mcpName").waitFor();
    expect(await page.getByLabel(/^WEATHER_KEY/).getAttribute("type")).toBe("password");
    await showPlan(page);
    expect(sent(source, "add/plan")).toEqual([
      {
        offerId: "offer-1",
        name: "weather",
        scope: "project",
        sandbox: "read",
        inputs: { folder: ["~/notes"], WEATHER_KEY: ["s3cret"] },
      },
    ]);
    await page.getByText("npx -y @acme/weather@1.2.0 /home/ada/notes").waitFor();
    const command = "fairlead mcp add io.github.acme/weather@1.2.0 -s project --kind npm --input 'folder=~/notes'";
    expect(await page.locator(".copy-command").first().textContent()).toBe(`Copy the command ${command}`);
    expect([page.url(), await page.locator("body").textContent()].join(" ")).not.toContain("s3cret");
    const button = page.getByRole("button", { name: "Add the server" });
    await button.focus();
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    await page.locator(".decision-ready :focus").waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.getByText("Enter does not press this button").first().waitFor({ state: "attached" });
    expect(sent(source, "add/write")).toEqual([]);
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: /fairlead mcp remove -s user weather/ }).waitFor();
    expect(sent(source, "add/write")).toEqual([{ plan: "plan-1", confirmed: [] }]);
    // The test runs by itself, and the focus is on what was done.
    await page.getByText("connected", { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Added weather");
    expect(sent(source, "servers/test")).toEqual([{ server: "weather" }]);
  });

  test("a missing value is named beside its input, and what is changed must be shown again", async () => {
    const source = addingSource();
    await using here = await chromium.open({ source, view: detail });
    const { page } = here;
    await page.getByRole("button", { name: "Show what will run" }).press("Enter");
    await page.getByText("a value is missing").first().waitFor();
    expect(sent(source, "add/plan")).toEqual([]);
    await showPlan(page);
    await page.getByRole("textbox", { name: "Name in the settings" }).fill("forecast");
    await page.getByRole("heading", { name: "What will run, exactly" }).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Add the server" }).count()).toBe(0);
  });

  test("an unproven package and a program without a sandbox need two distinct yeses", async () => {
    const source = addingSource({
      found: {
        proof: { kind: "unproven", text: "unproven: the package names no server" },
        unboxable: { why: "bubblewrap is missing", next: "install bubblewrap" },
      },
      plan: { isUnproven: true, isUnboxed: true },
    });
    await using here = await chromium.open({ source, view: detail });
    const { page } = here;
    await page.getByText("bubblewrap is missing").waitFor();
    await page.getByLabel("Sandbox").selectOption("off");
    await showPlan(page);
    await page.getByRole("button", { name: "Add the server" }).press("Space");
    await page.getByLabel(/^Nothing proves/).press("Space");
    await page.getByRole("button", { name: "Add the server" }).press("Space");
    await page.getByLabel("It runs without a sandbox").press("Space");
    await page.locator(".decision-ready").waitFor();
    expect(sent(source, "add/write")).toEqual([]);
    await add(page);
    await page.getByText("Added").first().waitFor();
    expect(sent(source, "add/write")).toEqual([{ plan: "plan-1", confirmed: ["unproven", "unboxed"] }]);
  });

  test("a mismatch cannot be added; a deleted server has no link; a deprecated one says why", async () => {
    const proof = { kind: "mismatch", text: "the package belongs to another server" } as const;
    const server = { ...weather, status: "deprecated", statusMessage: "use rain" } as const;
    await using here = await chromium.open({ source: addingSource({ found: { proof, server } }), view: detail });
    const { page } = here;
    await page.getByText("the package belongs to another server").waitFor();
    await page.getByText("use rain").waitFor();
    expect(await page.getByRole("button", { name: "Show what will run" }).count()).toBe(0);
    await go(page, "#/add?search=weather");
    await page.getByText("malware").waitFor();
    expect(await page.getByRole("link", { name: "io.github.evil/weather" }).count()).toBe(0);
  });

  test("without a network, the page says so in one line with the age, or that there is nothing", async () => {
    const source = addingSource();
    const offline = { registry, why: "connection refused" };
    source.handlers["add/search"] = ({ words }: Params<"add/search">) => {
      if (words === "nothing")
        throw new HostError("unreachable", "the registry cannot be reached", { next: "try again" });
      return { servers: rows, registries: [registry], unreached: [{ ...offline, age: 2 * day }], refused: 3 };
    };
    await using here = await chromium.open({ source, view: "#/add?search=weather" });
    const { page } = here;
    await page.getByText("connection refused; shown as of 2 d ago").waitFor();
    await page.getByText("Left out: 3 servers").waitFor();
    await go(page, "#/add?search=nothing");
    await page.getByText("the registry cannot be reached").waitFor();
  });

  test("texts of a registry are text: nothing runs, no character hides others, and links ask", async () => {
    const hostile = '<img src=x onerror="alert(1)">\u202Egnp.exe\u200B\u0007 [a](javascript:alert(1))';
    const long = `${hostile} ${"x".repeat(400)}`;
    const name = "io.github.acme/bad";
    const server = row(name, {
      title: hostile,
      description: long,
      version: hostile,
      kinds: [hostile],
      statusMessage: hostile,
      registry: hostile,
      status: "deprecated",
    });
    const source = addingSource({
      found: {
        server,
        repository: "https://github.com@evil.example/x",
        website: "javascript:alert(1)",
        versions: [hostile],
        ways: [
          { kind: hostile, label: hostile, runs: "program" },
          { kind: hostile, label: hostile, runs: "program", unusable: hostile },
        ],
        proof: { kind: "unproven", text: hostile },
        inputs: [
          {
            name: hostile,
            description: hostile,
            kind: "choice",
            choices: [hostile],
            isRequired: false,
            isSecret: false,
            isRepeated: false,
            default: hostile,
            placeholder: hostile,
          },
        ],
        unboxable: { why: hostile, next: hostile },
      },
      plan: { fields: [{ label: hostile, values: [hostile] }] },
    });
    source.handlers["add/search"] = () => ({
      servers: [server],
      registries: [],
      unreached: [{ registry: hostile, why: hostile }],
      refused: 1,
    });
    source.handlers["add/write"] = () => ({
      name,
      file: hostile,
      scope: "user",
      undo: hostile,
      mayStart: false,
      notes: [hostile],
    });
    await using here = await chromium.open({ source });
    const { page } = here;
    const look = async (what: string): Promise<void> => {
      expect([what, ...(await page.evaluate(deceptions))]).toEqual([what]);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([what, beyond]).toEqual([what, 0]);
    };
    await go(page, "#/add?search=bad");
    await page.getByRole("link", { name }).waitFor();
    await look("search");
    await go(page, "#/add/io.github.acme%2Fbad");
    await page.getByRole("button", { name: "Show what will run" }).waitFor();
    // An address with a user name is none that can be opened.
    expect(await page.locator("a.outside-link").count()).toBe(0);
    await look("server");
    await page.getByRole("button", { name: "Show what will run" }).click();
    await page.getByRole("heading", { name: "What will run, exactly" }).waitFor();
    await look("plan");
    await add(page);
    await page.getByText("undo:").waitFor();
    await look("added");
    expect(here.requests.filter((url) => !url.startsWith(`http://127.0.0.1:${here.served.port}/`))).toEqual([]);
    expect(here.complaints).toEqual([]);
  });
});
