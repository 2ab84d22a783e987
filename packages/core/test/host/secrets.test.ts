import { expect, test } from "vitest";
import { createHostSecrets } from "../../src/host/secrets.ts";
import { createLiveConfiguration } from "../../src/host/servers/live-configuration.ts";
import { machine, userFile } from "../support/machine.ts";

test("secrets of the settings, the environment and every connection are hidden, also after a reload", async () => {
  const entry = (token: string): object => ({
    mcpServers: { s: { command: "x", args: ["--token=in-the-arguments"], env: { TOKEN: token, OTHER: "${SEEDED}" } } },
  });
  await using here = await machine({ [userFile]: entry("in-the-settings") });
  const env = { SEEDED: "in-a-variable", OPENAI_API_KEY: "in-the-environment", HTTPS_PROXY: "http://u:in-a-proxy@h:1" };
  const live = createLiveConfiguration(await here.load({}, env));
  const steps: string[] = [];
  const { redactor, observe } = createHostSecrets(live, (server) => void steps.push(server));
  const words = "in-the-arguments in-the-settings in-a-variable in-the-environment in-a-proxy stored-or-token nothing";
  const transport = { kind: "http", url: "http://h", headers: new Map() } as const;
  const timeout = { milliseconds: 1, setting: "timeout" } as never;
  expect((await redactor())(words)).toBe(`${"(hidden) ".repeat(5)}stored-or-token nothing`);
  observe("s", {
    step: "definition",
    transport,
    timeout,
    redact: (text) => text.replace("stored-or-token", "(hidden)"),
    milliseconds: 0,
  });
  expect((await redactor())(words)).toBe(`${"(hidden) ".repeat(6)}nothing`);
  expect(steps).toEqual(["s"]);
  await here.write(userFile, entry("another-one"));
  live.replace(await here.load({}, env));
  expect((await redactor())("in-the-settings another-one")).toBe("(hidden) (hidden)");
});
