/*
 * Opens the console with 20 servers in Chromium and takes its pictures: `npm run build && node scripts/record-console.mjs`
 * writes those of the docs into docs/images. With a folder, it takes every view there instead, in light, dark, at 360
 * pixels, at a zoom of 200 %, with forced colours and without any server, to look at, and says which are wider than their
 * window: node scripts/record-console.mjs FOLDER [VIEW[.MODE] …].
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { consoleScene } from "./console-scene/scene.mjs";

const [folder, ...only] = process.argv.slice(2);

const press = (name) => (page) => page.getByRole("button", { name, exact: true }).first().click();
const called = async (page) => {
  await press("Call")(page);
  await page.locator(".result").waitFor();
};
const tab = (name) => (page) => page.getByRole("tab", { name, exact: true }).click();
const inTurn =
  (...steps) =>
  async (page) => {
    for (const step of steps) await step(page);
  };
const args = (value) => `?args=${encodeURIComponent(JSON.stringify(value))}`;
const panel = "#/tools/grafana/render_panel" + args({ panel: "Latency of the API", range: "1h" });
const alert =
  "#/tools/grafana/create_alert" +
  args({
    title: "API is slow",
    severity: "critical",
    conditions: [{ query: "histogram_quantile(0.99, api_seconds)", above: 0.4, minutes: 5 }],
    notify: { kind: "channel", channel: "#on-call" },
    labels: { team: "platform" },
  });

/** Every view by the name of its picture: its address, and what is done there. */
const views = {
  now: ["#/now"],
  inbox: ["#/inbox"],
  "inbox-long": ["#/inbox", (page) => page.getByRole("link", { name: /write_file/ }).click()],
  servers: ["#/servers"],
  "server-connected": ["#/servers/linear"],
  "server-failed": ["#/servers/db"],
  "server-sign-in": ["#/servers/github"],
  "server-approval": ["#/servers/jira"],
  "server-log": ["#/servers/linear/log"],
  "server-policy": ["#/servers/kubernetes/policy"],
  "server-changes": ["#/servers/sentry/changes"],
  "server-test": ["#/servers/grafana/test", inTurn(press("Run the test"), (page) => page.waitForTimeout(2500))],
  tools: ["#/tools"],
  "tools-search": ["#/tools?search=close%20a%20ticket"],
  tool: ["#/tools/linear/create_issue"],
  "tool-nested": [alert],
  "tool-json": [alert, tab("JSON")],
  "tool-result": [panel, called],
  "tool-structured": [panel, inTurn(called, tab("Structured"))],
  "tool-raw": [panel, inTurn(called, tab("Raw"))],
  "tool-view-ask": ["#/tools/grafana/explore_panel" + args({ panel: "Latency" }), inTurn(called, openView(false))],
  "tool-view": [
    "#/tools/grafana/explore_panel" + args({ panel: "Latency of the API" }),
    inTurn(called, openView(true)),
  ],
  resources: ["#/resources"],
  resource: ["#/resources", (page) => page.getByRole("link", { name: "API overview" }).click()],
  prompts: ["#/prompts"],
  prompt: ["#/prompts", (page) => page.getByRole("link", { name: "triage" }).click()],
  skills: ["#/skills"],
  traffic: ["#/traffic"],
  "traffic-body": [
    "#/traffic",
    (page) =>
      page
        .getByRole("log")
        .getByRole("link", { name: /response/ })
        .last()
        .click(),
  ],
  history: ["#/history"],
  "history-entry": ["#/history", (page) => page.getByRole("link", { name: "kubernetes.delete_pod" }).first().click()],
  conversations: ["#/conversations"],
  conversation: [
    "#/conversations",
    (page) =>
      page
        .getByRole("link", { name: /exports/ })
        .first()
        .click(),
  ],
  policy: ["#/policy"],
  explained: [
    "#/policy",
    async (page) => {
      await page.getByLabel("Server", { exact: true }).selectOption("kubernetes");
      await page.getByLabel("Tool", { exact: true }).fill("delete_pod");
      await press("Explain")(page);
    },
  ],
  "new-rule": ["#/policy", press("New rule")],
  changes: ["#/changes"],
  budget: ["#/budget"],
  palette: [
    "#/now",
    async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("li");
    },
  ],
  nothing: ["#/nowhere"],
};

/** Views that look different on a machine without a server. */
const emptyViews =
  "now inbox servers tools resources prompts skills traffic history conversations policy changes budget".split(" ");

const wide = { width: 1280, height: 800 };
const modes = {
  light: { ...wide, colorScheme: "light", forcedColors: "none" },
  dark: { ...wide, colorScheme: "dark", forcedColors: "none" },
  narrow: { width: 360, height: 740, colorScheme: "light", forcedColors: "none" },
  // A window of 1280 × 800 at a zoom of 200 %.
  zoom: { width: 640, height: 400, colorScheme: "light", forcedColors: "none" },
  medium: { width: 900, height: 700, colorScheme: "light", forcedColors: "none" },
  forced: { ...wide, colorScheme: "dark", forcedColors: "active" },
};

/** The pictures of the docs: the view, and its mode. */
const ofDocs = {
  "console-now": ["now", "light"],
  "console-question": ["inbox", "light"],
  "console-call": ["tool-result", "dark"],
  "console-traffic": ["traffic-body", "light"],
};

function openView(isAllowed) {
  return async (page) => {
    await tab("View")(page);
    const button = page.getByRole("button", { name: "Show the view" });
    const frame = page.locator(".view-frame");
    await button.or(frame).first().waitFor();
    if (!isAllowed || (await frame.count()) > 0) return;
    // A button that moves is dead for half a second.
    await button.scrollIntoViewIfNeeded();
    await page.waitForTimeout(900);
    await button.click();
    await frame.waitFor();
    await page.waitForTimeout(700);
  };
}

/** Shows an address, and waits until its data is there. */
async function go(page, [hash, act]) {
  await page.evaluate((address) => {
    location.hash = "#/nowhere";
    location.hash = address;
  }, hash);
  const settled = () =>
    page.waitForFunction(() => document.querySelector("h1") !== null && document.querySelector(".loading") === null);
  await settled();
  await page.waitForTimeout(300);
  await act?.(page);
  await settled();
  await page.waitForTimeout(300);
  // A pointer that rests over a row would colour it.
  await page.mouse.move(0, 0);
}

/** Replaces the temporary folder in every text of the page, as a reader's home would be there. */
async function hideFolder({ page, home, folder: temporary }) {
  await page.evaluate(
    (paths) => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { currentNode: node } = walker;
        for (const [path, shown] of paths)
          if (node.nodeValue.includes(path)) node.nodeValue = node.nodeValue.replaceAll(path, shown);
      }
    },
    [
      [home, "/home/ada"],
      ["…/home/project", "…/ada/project"],
      [`${temporary}/bin`, "/usr/local/bin"],
    ],
  );
}

async function take(scene, view, mode, file) {
  const { page } = scene;
  const { width, height, colorScheme, forcedColors } = modes[mode];
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, forcedColors });
  try {
    await go(page, views[view]);
  } catch (error) {
    process.stderr.write(`${view}.${mode}: ${String(error).split("\n", 1)[0]}\n`);
  }
  await hideFolder(scene);
  await page.screenshot({ path: file });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) process.stderr.write(`${view}.${mode}: ${over} px wider than the window\n`);
  await page.keyboard.press("Escape");
}

async function takeAll() {
  mkdirSync(folder, { recursive: true });
  const isWanted = (...names) => only.length === 0 || names.some((name) => only.includes(name));
  const empty = emptyViews.filter((view) => isWanted("empty", `${view}.empty`));
  if (only.length === 0 || only.some((name) => !name.endsWith("empty")))
    await withScene({}, async (scene) => {
      for (const mode of Object.keys(modes))
        for (const view of Object.keys(views))
          if (isWanted(view, mode, `${view}.${mode}`))
            await take(scene, view, mode, join(folder, `${view}.${mode}.png`));
    });
  if (empty.length > 0)
    await withScene({ isEmpty: true }, async (scene) => {
      for (const view of empty) await take(scene, view, "light", join(folder, `${view}.empty.png`));
    });
}

async function takeDocs() {
  const images = fileURLToPath(new URL("../docs/images", import.meta.url));
  await withScene({}, async (scene) => {
    for (const [name, [view, mode]] of Object.entries(ofDocs))
      await take(scene, view, mode, join(images, `${name}.png`));
  });
}

async function withScene(options, use) {
  const scene = await consoleScene(options);
  try {
    // `metrics` takes some seconds to fail.
    if (!options.isEmpty) await scene.page.waitForTimeout(7000);
    await use(scene);
  } finally {
    await scene.end();
  }
}

await (process.argv.length === 2 ? takeDocs() : takeAll());
