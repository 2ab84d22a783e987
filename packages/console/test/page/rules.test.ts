import { describe, expect, test } from "vitest";
import { axeViolations, go, hasChromium, useChromium } from "./support/console-window.ts";
import { rulesSource } from "./support/sample-rules.ts";

const chromium = useChromium("console, rules and records");

describe.runIf(hasChromium)("the views of rules and records in Chromium", () => {
  test.each(["light", "dark"] as const)("axe finds nothing wrong, %s", async (colours) => {
    await using here = await chromium.open({ source: rulesSource(), colours });
    const { page } = here;
    const found: string[] = [];
    for (const view of [
      "#/policy?server=files&tool=write_file",
      "#/changes",
      "#/budget",
      "#/skills?server=acme&uri=skill%3A%2F%2Facme%2Frefunds%2FSKILL.md",
      "#/conversations",
      "#/conversations/c-1",
    ])
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 740 });
        await go(page, view);
        found.push(...(await axeViolations(page)).map((line) => `${view} ${width}: ${line}`));
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (beyond > 0) found.push(`${view}: ${beyond} pixels wider than the window of ${width}`);
      }
    expect(found).toEqual([]);
    expect(here.complaints).toEqual([]);
  });

  test("a person explains a decision and writes a rule, with the keyboard alone", async () => {
    await using here = await chromium.open({ source: rulesSource(), view: "#/policy" });
    const { page, source } = here;
    await page.getByLabel("Server").selectOption("files");
    await page.getByLabel("Tool", { exact: true }).fill("write_file");
    await page.keyboard.press("Enter");
    await page.getByText("a rule in policy.toml:12 asks about it").first().waitFor();
    expect(source.commands.find(([verb]) => verb === "policy/explain")?.[1]).toMatchObject({
      server: "files",
      tool: "write_file",
      who: "model",
    });
    await page.getByRole("button", { name: "New rule" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "New rule" });
    await dialog.getByLabel("Decision").selectOption("deny");
    await dialog.getByLabel("Server", { exact: true }).fill("files");
    await dialog.getByRole("textbox", { name: "Tool" }).fill("delete_*");
    await dialog.getByText("files.delete_*").waitFor();
    const write = dialog.getByRole("button", { name: "Write the rule" });
    await write.focus();
    await page.keyboard.press("Enter");
    expect(source.commands.some(([verb]) => verb === "policy/add")).toBe(false);
    await page.locator(".dialog .decision-ready").waitFor();
    await write.press("Space");
    await dialog.waitFor({ state: "detached" });
    expect(source.commands.find(([verb]) => verb === "policy/add")?.[1]).toMatchObject({
      decision: "deny",
      server: "files",
      tool: "delete_*",
      isPattern: true,
    });
  });

  test("a conversation is shown as it happened: pieces are joined, a call is one card with its result", async () => {
    await using here = await chromium.open({ source: rulesSource() });
    const { page } = here;
    await go(page, "#/conversations/c-1");
    await page.getByText("them.", { exact: false }).first().waitFor();
    const items = page.locator(".conversation > li");
    expect(await items.count()).toBe(5);
    await page.getByText("files.move").click();
    await page.getByText("moved", { exact: true }).waitFor();
    await page.getByText("The turn ended: it has reached its limit").waitFor();
  });

  test("a changed skill is accepted with the digest that the person has seen", async () => {
    await using here = await chromium.open({ source: rulesSource() });
    const { page, source } = here;
    await go(page, "#/skills");
    await page.getByRole("link", { name: "acme/refunds" }).click();
    await page.getByRole("button", { name: "Read SKILL.md" }).waitFor();
    await page.locator(".decision-ready").waitFor();
    await page.getByRole("button", { name: "Accept exactly these files" }).press("Space");
    await page.getByText("Accepted the files of refunds").first().waitFor();
    expect(source.commands.find(([verb]) => verb === "skills/accept")?.[1]).toEqual({
      server: "acme",
      uri: "skill://acme/refunds/SKILL.md",
      digest: "sha256:aa",
    });
  });
});
