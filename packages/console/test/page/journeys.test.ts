import { focusedName, tabTo } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { hasChromium, useChromium } from "./support/console-window.ts";
import { sampleSource } from "./support/sample-state.ts";

const chromium = useChromium("console, by keyboard alone");

describe.runIf(hasChromium)("by keyboard alone", () => {
  test("a person reads why a server failed, restarts it and tests it", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await tabTo(page, "postgres");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Servers / postgres" }).waitFor();
    expect(await focusedName(page)).toBe("Servers / postgres");
    expect(await page.getByLabel("Evidence", { exact: true }).textContent()).toContain(
      'password authentication failed for user "app"',
    );
    await tabTo(page, "Try again: postgres");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
    expect(source.commands).toContainEqual(["servers/restart", { servers: ["postgres"] }]);
    await tabTo(page, "Definition");
    await page.keyboard.press("End");
    expect(await focusedName(page)).toBe("Test");
    await tabTo(page, "Run the test");
    await page.keyboard.press("Enter");
    await page.getByText("prompts/list failed: method not found").waitFor();
    expect(page.url()).toContain("#/servers/postgres/test");
  });

  test("a person finds a server with Ctrl-K, and Escape gives the focus back", async () => {
    await using here = await chromium.open();
    const { page } = here;
    await tabTo(page, "files");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("postg");
    await page.getByRole("option", { name: /^postgres/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focusedName(page)).toBe("files");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("postg");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Servers / postgres" }).waitFor();
    expect(await focusedName(page)).toBe("Servers / postgres");
  });

  test("a person goes from Now to a question and allows it once", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await tabTo(page, "Look");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Run files.write_file?" }).waitFor();
    await page.locator(".decision-ready").waitFor();
    await tabTo(page, "Yes, once");
    await page.keyboard.press("Space");
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(source.commands).toContainEqual([
      "questions/answer",
      { id: "q-write", answer: { kind: "request", choice: "once" } },
    ]);
    await tabTo(page, /^Next question/);
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Run db.query?" }).waitFor();
  });

  test("a person compares a changed definition and accepts it", async () => {
    await using here = await chromium.open();
    const { page, source } = here;
    await tabTo(page, "Compare");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Change of the tool query" }).locator(".decision-ready").waitFor();
    await tabTo(page, "Accept this definition");
    await page.keyboard.press("Space");
    await page.getByText("Accepted 1 definition of db").first().waitFor();
    expect(source.commands.filter(([verb]) => verb === "servers/accept")).toHaveLength(1);
  });

  test("a person selects the failed servers and restarts all of them", async () => {
    await using here = await chromium.open({ view: "#/now" });
    const { page, source } = here;
    await tabTo(page, "failed6");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/now?state=failed");
    await tabTo(page, "Select");
    await page.keyboard.press("Enter");
    await page.getByText("6 selected").waitFor();
    await tabTo(page, "Restart");
    await page.keyboard.press("Enter");
    await page.getByText("6 servers restart").first().waitFor();
    const servers = ["docs", "postgres", "search", "metrics", "legacy-api", "internal-ca"];
    expect(source.commands).toContainEqual(["servers/restart", { servers }]);
  });

  test("a person filters the history, opens an entry, closes it and reads older ones", async () => {
    await using here = await chromium.open({ view: "#/history" });
    const { page } = here;
    await page.getByRole("row", { name: /files/ }).first().waitFor();
    await tabTo(page, "denied");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/history?outcome=denied");
    await page.waitForFunction(() =>
      [...document.querySelectorAll("td.cell-outcome")].every(({ textContent }) => textContent === "denied"),
    );
    await tabTo(page, /^(files|git|db|slack)\./);
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Request" });
    await panel.waitFor();
    expect(await panel.textContent()).toMatch(/policy\.toml|allowed: a typed call|built-in rule/);
    const opened = await focusedName(page);
    await tabTo(page, "Close the details");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    expect(await focusedName(page)).toBe(opened);
    await tabTo(page, "All");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show older" }).focus();
    const before = await page.locator("tr[data-row]").count();
    await page.keyboard.press("Enter");
    await page.waitForFunction((count) => document.querySelectorAll("tr[data-row]").length > count, before);
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  });

  test("a person signs in to a server", async () => {
    const source = sampleSource();
    const [signIn] = source.state.questions.filter(({ kind }) => kind === "sign_in");
    source.state = { ...source.state, questions: [] };
    source.handlers["servers/signIn"] = () => {
      if (signIn !== undefined) source.emit({ type: "question", question: signIn });
      return {};
    };
    await using here = await chromium.open({ source });
    const { page } = here;
    await tabTo(page, "Sign in: github");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Look" }).waitFor();
    await page.getByRole("link", { name: "Look" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("github.example", { exact: true }).waitFor();
    await tabTo(page, "http://127.0.0.1:…/?code=…").catch(() => {});
    await page.getByLabel(/paste the address/).focus();
    await page.keyboard.type("http://127.0.0.1:4711/callback?code=abc");
    await tabTo(page, "Continue with this address");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Answered" }).waitFor();
    expect(source.commands.map(([verb]) => verb)).toContain("questions/answer");
  });
});
