import { expect, test } from "vitest";
import { openHost } from "../../src/host.ts";
import { machine, userFile } from "../support/machine.ts";

test("secrets of the settings, the environment and every connection are hidden, also after a reload", async () => {
  const entry = (token: string): object => ({
    mcpServers: { s: { command: "x", args: ["--token=in-the-arguments"], env: { TOKEN: token, OTHER: "${SEEDED}" } } },
  });
  await using here = await machine({ [userFile]: entry("in-the-settings") });
  const env = { SEEDED: "in-a-variable", OPENAI_API_KEY: "in-the-environment", HTTPS_PROXY: "http://u:in-a-proxy@h:1" };
  const steps: string[] = [];
  await using host = openHost(await here.load({}, env), { observe: (server) => void steps.push(server) });
  const words = "in-the-arguments in-the-settings in-a-variable in-the-environment in-a-proxy stored-or-token nothing";
  const transport = { kind: "http", url: "http://h", headers: new Map() } as const;
  const timeout = { milliseconds: 1, setting: "timeout" } as never;
  expect(await host.hideSecrets(words)).toBe(`${"(hidden) ".repeat(5)}stored-or-token nothing`);
  host.gateway.servers.get("s").observe({
    step: "definition",
    transport,
    timeout,
    redact: (text) => text.replace("stored-or-token", "(hidden)"),
    milliseconds: 0,
  });
  expect(await host.hideSecrets(words)).toBe(`${"(hidden) ".repeat(6)}nothing`);
  expect(steps).toEqual(["s"]);
  await here.write(userFile, entry("another-one"));
  expect(await host.reload(await here.load({}, env))).toMatchObject({ replaced: ["s"] });
  // What the earlier connection knew may still stand in a conversation.
  expect(await host.hideSecrets("in-the-settings another-one stored-or-token")).toBe("(hidden) (hidden) (hidden)");
  await here.write(userFile, {});
  expect(await host.reload(await here.load({}, env))).toMatchObject({ removed: ["s"] });
  expect(await host.hideSecrets("another-one stored-or-token")).toBe("(hidden) (hidden)");
});
