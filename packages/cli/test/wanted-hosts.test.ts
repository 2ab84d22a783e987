/** A host that a sandboxed server wants, as a question of the command: on the terminal, and in the console's inbox. */

import { chromiumProgram, hasBubblewrap, openChromium, programServer, until } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lineOf } from "./support/console-client.ts";
import { processesOf } from "./support/left-over.ts";
import { machine, userFile } from "./support/machine.ts";
import { runProcess, startPiped } from "./support/process.ts";
import { openTerminal } from "./support/terminal.ts";

const code = 'code=return (await fetch("https://api.wanted.invalid/")).text()';
const call = ["call", "s.run", code];
const refused = "does not allow api.wanted.invalid:443";
/** The proxy has looked the name up. No name exists where the tests run. */
const passed = "getaddrinfo";

async function boxedMachine(background: "on" | "off") {
  const here = await machine({
    [userFile]: {
      mcpServers: { s: programServer("evaluator"), plain: programServer("growing") },
      fairlead: { background, servers: { s: { sandbox: "on" } } },
    },
  });
  return {
    ...here,
    async [Symbol.asyncDispose]() {
      await here.run("daemon", "stop");
      await until(() => processesOf(here).length === 0);
      await here[Symbol.asyncDispose]();
    },
  };
}

describe.runIf(hasBubblewrap("servers in their sandbox"))("a host that a sandboxed server wants", () => {
  test.each(["on", "off"] as const)(
    "is asked about on the terminal of the call, also with --yes, and Enter is no answer (background host: %s)",
    async (background) => {
      await using here = await boxedMachine(background);
      await using terminal = openTerminal(here, ...call, "--yes");
      await terminal.until(/s wants api\.wanted\.invalid:443\. Its sandbox does not list this host/);
      await terminal.until(/once \(until the server ends\) · always · no:$/m);
      terminal.type("\r");
      await terminal.until(/(always · no:[\s\S]*){2}$/m);
      terminal.type("y\r");
      await terminal.until(/(always · no:[\s\S]*){3}$/m);
      terminal.type("always\r");
      await terminal.until(new RegExp(passed));
      expect(await terminal.exitCode).toBe(0);
      // Saved: without a terminal, the same call passes.
      expect((await runProcess(here, ...call)).stdout).toContain(passed);
      const history = await here.run("history", "--json");
      expect(history.stdout).toContain('"kind": "host"');
      const removed = await here.run("policy", "remove", "s.api.wanted.invalid:443");
      expect(removed.stdout).toBe("removed the saved approval\n");
      expect(removed.stderr).toContain("now: ask: the default for hosts asks about it");
      // The program in the background host may still run. It does not keep the host.
      expect((await runProcess(here, ...call)).stdout).toContain(refused);
    },
  );

  test("without a terminal, is refused at once", async () => {
    await using here = await boxedMachine("off");
    expect((await runProcess(here, ...call)).stdout).toContain(refused);
    const { stdout } = await here.run("history");
    expect(stdout).toContain("host api.wanted.invalid:443 for s");
  });
});

if (chromiumProgram === undefined) await openChromium("fairlead console");

describe.runIf(chromiumProgram !== undefined && hasBubblewrap("servers in their sandbox"))("in Chromium", () => {
  let browser: Awaited<ReturnType<typeof openChromium>>;
  beforeAll(async () => {
    browser = await openChromium("fairlead console");
  });
  afterAll(() => browser?.close());

  async function openConsole() {
    const here = await boxedMachine("on");
    const { child, ending } = startPiped(here, "console", "--no-open");
    const printed = lineOf(child.stdout, /^http:\/\/127\.0\.0\.1:\d+\/#k=/);
    const page = await browser?.newPage();
    if (page === undefined) throw new Error("Chromium is absent");
    await page.goto(await printed);
    await page.getByText("live", { exact: true }).first().waitFor();
    const { origin } = new URL(page.url());
    return {
      here,
      page,
      show: (view: string) => page.goto(`${origin}/#/${view}`),
      card: page.getByRole("article", { name: "s wants api.wanted.invalid:443" }),
      async [Symbol.asyncDispose]() {
        await page.close();
        child.kill("SIGINT");
        await ending;
        await here[Symbol.asyncDispose]();
      },
    };
  }

  test("is a question of the inbox with its own words and the answers once, always and no", async () => {
    await using console = await openConsole();
    const { here, show, card } = console;
    const called = runProcess(here, ...call);
    await show("inbox");
    await card.waitFor();
    expect(await card.textContent()).toContain("api.wanted.invalid:443");
    expect(await card.getByRole("group", { name: "Your answer" }).getByRole("button").allTextContents()).toEqual([
      "No",
      "Yes, once (until the server ends)",
      "Yes, always (this server as it is configured; saves an approval)",
    ]);
    await card.getByRole("button", { name: "Yes, once (until the server ends)" }).click();
    expect((await called).stdout).toContain(passed);
  });

  test("after a no, stands on the page of the server with the rest of its sandbox, and can be allowed there", async () => {
    await using console = await openConsole();
    const { here, page, show, card } = console;
    const called = runProcess(here, ...call);
    await show("inbox");
    await card.getByRole("button", { name: "No", exact: true }).click();
    expect((await called).stdout).toContain(refused);
    await show("servers/s");
    const sandbox = page.getByRole("region", { name: "Sandbox" });
    const host = sandbox.getByRole("listitem").filter({ hasText: "api.wanted.invalid:443" });
    await host.waitFor();
    expect(await sandbox.getByRole("definition").allTextContents()).toEqual([
      "its own files",
      "its private home",
      "nothing",
      "those of its entry",
    ]);
    await host.getByRole("button", { name: "Allow always for this server" }).click();
    await sandbox.getByText("api.wanted.invalid:443 (always, by your answer)").waitFor();
    expect((await runProcess(here, ...call)).stdout).toContain(passed);
    await show("servers/plain");
    await page.getByText("Not sandboxed: the program runs with your rights").waitFor();
  });
});
