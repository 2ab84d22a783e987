import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromiumProgram, openChromium, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allowAll } from "../state/scene.ts";
import { viewWindow } from "../views/support/view-window.ts";

const subject = "attacks of views in the console";

let browser: Browser;
let close = async (): Promise<void> => {};
beforeAll(async () => {
  const opened = await openChromium(subject);
  if (opened === undefined) return;
  browser = opened;
  close = () => opened.close();
});
afterAll(() => close());

interface Listening extends AsyncDisposable {
  readonly url: string;
  /** The requests that arrived. */
  readonly requests: readonly string[];
}

async function listening(): Promise<Listening> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end("got it");
  });
  server.on("upgrade", (request, socket) => {
    requests.push(`UPGRADE ${request.url}`);
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

type Report = Readonly<Record<string, string>> & { readonly flood: number };

if (chromiumProgram === undefined) await openChromium(subject);

describe.runIf(chromiumProgram !== undefined)("the attack view", () => {
  test("sends no request, opens no dialog, reaches no page around it and nothing of another server", async () => {
    const planted = "secret-of-the-other-server";
    await using folder = await temporaryFolder();
    await folder.write("results.json", { secret: { content: [{ type: "text", text: planted }] } });
    await using outside = await listening();
    await using here = await viewWindow(browser, {
      servers: {
        attack: stdioServer("attack-view", outside.url, "other"),
        other: stdioServer("results", join(folder.path, "results.json")),
      },
      rules: allowAll,
    });
    const { page, context } = here;
    await context.grantPermissions(["clipboard-read", "clipboard-write", "geolocation"]);
    await here.call("attack", "attack");
    await here.openTab();
    await page.getByRole("heading", { name: "Show the view of attack?" }).waitFor();
    // Nothing of what the view wants is allowed, and the person is told.
    const consent = await page.locator(".view-consent").innerText();
    expect(consent).toContain("the browser blocks its requests");
    expect(consent).toContain("wants camera, microphone, geolocation, clipboardWrite: the console gives a view none");
    for (const domain of [
      "https://a.example; script-src *",
      "'unsafe-eval'",
      "https://10.0.0.1",
      "https://printer.local",
    ])
      expect(consent).toContain(domain);
    await here.allow();
    const view = await here.view();
    const written = view.locator("#report");
    await written.waitFor({ timeout: 55_000 });
    const report: Report = JSON.parse((await written.textContent()) ?? "");

    const policies = here.scene.events.flatMap((event) => (event.type === "view_stopped" ? [event.directive] : []));
    expect(policies).toEqual(expect.arrayContaining(["connect-src", "img-src", "script-src-elem", "form-action"]));
    expect(outside.requests).toEqual([]);
    expect(here.complaints).toEqual([]);
    expect(JSON.stringify(report)).not.toContain(planted);
    expect(context.pages()).toHaveLength(1);
    for (const name of [
      "storage",
      "session",
      "cookie",
      "database",
      "caches",
      "parent",
      "top",
      "sandbox",
      "topLocation",
    ])
      expect([name, report[name]]).toEqual([name, expect.stringMatching(/SecurityError|TypeError/)]);
    for (const name of ["geolocation", "camera", "clipboardRead", "clipboardWrite", "fullscreen"])
      expect([name, report[name]]).toEqual([name, expect.stringMatching(/Error|disabled/)]);
    for (const name of ["popup", "frameElement"]) expect([name, report[name]]).toEqual([name, "null"]);
    const answers = (names: readonly string[]) => names.map((name) => [name, JSON.parse(report[name] ?? "{}")]);
    expect(answers(["own", "poll"])).toEqual([
      ["own", expect.objectContaining({ result: { content: [{ type: "text", text: "answer of own" }] } })],
      ["poll", expect.objectContaining({ result: { content: [{ type: "text", text: "answer of poll" }] } })],
    ]);
    for (const [name, answer] of answers(
      "early hidden otherTool otherToolToo otherName prompt sampling elicitation toolsList script data file large".split(
        " ",
      ),
    ))
      expect([name, answer]).toEqual([name, expect.objectContaining({ error: expect.anything() })]);
    // Reading is the server's own matter, and the person is asked about it.
    const questions = page.getByRole("article", { name: /^Read resource .* of attack\?$/ });
    expect(await questions.count()).toBe(2);
    const asked = here.scene.events.flatMap((event) => (event.type === "question" ? [event.question] : []));
    expect(asked.map(({ server, kind }) => [server, kind])).toEqual([
      ["attack", "request"],
      ["attack", "request"],
    ]);
    expect(answers(["mode", "pip"])).toEqual([
      ["mode", expect.objectContaining({ result: { mode: "inline" } })],
      ["pip", expect.objectContaining({ result: { mode: "inline" } })],
    ]);
    // How many, depends on the time: the exact numbers are in a test of their own.
    expect(report.flood).toBeGreaterThan(0);
    const calls = here.scene.events.flatMap((event) => (event.type === "call" ? [event.call] : []));
    expect(calls.filter(({ server, kind }) => server === "other" && kind === "tool")).toEqual([]);
    expect(calls.filter(({ name }) => name === "hidden" || name === "secret")).toEqual([]);
    const box = await page.locator("iframe.view-frame").boundingBox();
    expect(box?.height).toBeLessThanOrEqual(2000);

    // A view that goes elsewhere is stopped by the policy of the page around it.
    await view.evaluate("setTimeout(window.leave)").catch(() => undefined);
    await page.getByText("This view was stopped from opening a page of").waitFor();
    await here.call("attack", "leave");
    await here.openTab();
    await page.getByRole("heading", { name: "Show the view of attack?" }).waitFor();
    await here.allow();
    await page.getByText("This view was stopped from opening a page of").waitFor();
    expect(outside.requests).toEqual([]);
    expect(here.complaints).toEqual([]);
  }, 90_000);
});
