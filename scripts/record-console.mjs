/*
 * Opens the console with 20 servers in Chromium and takes its pictures: `npm run build && node scripts/record-console.mjs`
 * writes those of the docs into docs/images. With a folder, it takes every view there instead, in light, dark, at 360
 * pixels and with dialogs, to look at: node scripts/record-console.mjs FOLDER [VIEW …].
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { consoleScene } from "./console-scene/scene.mjs";

const [folder, ...only] = process.argv.slice(2);

/** Every view by the name of its picture. */
const views = {
  now: "#/now",
  inbox: "#/inbox",
  servers: "#/servers",
  "server-connected": "#/servers/linear",
  "server-failed": "#/servers/db",
  "server-sign-in": "#/servers/github",
  "server-approval": "#/servers/jira",
  "server-log": "#/servers/linear/log",
  "server-policy": "#/servers/kubernetes/policy",
  "server-changes": "#/servers/sentry/changes",
  "server-test": "#/servers/grafana/test",
  tools: "#/tools",
  "tools-search": "#/tools?search=close%20a%20ticket",
  tool: "#/tools/linear/create_issue",
  "tool-result": "#/tools/linear/list_issues",
  resources: "#/resources",
  prompts: "#/prompts",
  skills: "#/skills",
  traffic: "#/traffic",
  history: "#/history",
  conversations: "#/conversations",
  policy: "#/policy",
  changes: "#/changes",
  budget: "#/budget",
  nothing: "#/nowhere",
};

const modes = {
  light: { width: 1280, height: 800, colorScheme: "light" },
  dark: { width: 1280, height: 800, colorScheme: "dark" },
  narrow: { width: 360, height: 740, colorScheme: "light" },
};

/** Shows an address, and waits until its data is there. */
async function go(page, view) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, view);
  await page.waitForFunction(() => document.querySelector("h1") && !document.querySelector(".loading"));
  await page.waitForTimeout(400);
}

/** Replaces the temporary folder in every text of the page, as a reader's home would be there. */
async function hideFolder({ page, home }) {
  await page.evaluate((path) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      if (node.nodeValue.includes(path)) node.nodeValue = node.nodeValue.replaceAll(path, "/home/ada");
    }
  }, home);
}

async function takeAll(scene) {
  const { page } = scene;
  mkdirSync(folder, { recursive: true });
  const wanted = Object.entries(views).filter(([name]) => only.length === 0 || only.includes(name));
  for (const [mode, { width, height, colorScheme }] of Object.entries(modes)) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    for (const [name, view] of wanted) {
      await go(page, view);
      if (name === "tool-result") {
        await page.getByRole("button", { name: "Call", exact: true }).click();
        await page.waitForTimeout(800);
      }
      await hideFolder(scene);
      await page.screenshot({ path: join(folder, `${name}.${mode}.png`) });
      if (mode === "narrow") {
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (over > 0) process.stderr.write(`${name}: ${over} px wider than the screen\n`);
      }
    }
  }
}

const scene = await consoleScene();
try {
  await scene.page.waitForTimeout(7000);
  await takeAll(scene);
} finally {
  await scene.end();
}
