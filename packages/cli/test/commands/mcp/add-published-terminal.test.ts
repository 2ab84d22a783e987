import { hasBubblewrap } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { publishedWeather, weatherName } from "../../support/published-weather.ts";
import { openTerminal } from "../../support/terminal.ts";

const canBox = hasBubblewrap("the first minutes with a registry");

test.runIf(canBox)("from a name to a client that lists its tools: five answers, no editor", async () => {
  await using here = await publishedWeather();
  const answers: string[] = [];
  {
    await using terminal = openTerminal(here, "mcp", "add", "-s", "user", weatherName);
    const answer = async (question: RegExp, text: string): Promise<void> => {
      await terminal.until(question);
      terminal.type(text);
      answers.push(text);
    };
    await terminal.until(/folder \(Your notes\):\s*$/);
    terminal.type("~/nots\r");
    // A path that does not exist is asked again. The Tab key completes the path.
    await terminal.until(/there is no \S+\/nots\s+folder \(Your notes\):\s*$/);
    terminal.type("~/no\t");
    await answer(/folder \(Your notes\): ~\/notes\/\s*$/, "\r");
    await answer(/WEATHER_KEY \(Your key\) \(not shown\):\s*$/, "s3cret\r");
    await terminal.until(/runs {8}npx -y @acme\/weather@1\.2\.0/);
    await answer(/Add "weather"\?[\s\S]*\[N\/y\/w\]\s*$/, "w\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toMatch(/"weather" is connected: .*1 tool/);
    expect(terminal.screen()).not.toContain("s3cret");
  }
  {
    await using terminal = openTerminal(here, "connect", "claude-code");
    for (const question of [/Write this\? \[y\/N\]\s*$/, /Write this rule[\s\S]*\[y\/N\]\s*$/]) {
      await terminal.until(question);
      terminal.type("y\r");
      answers.push("y");
    }
    expect(await terminal.exitCode).toBe(0);
  }

  expect(answers).toHaveLength(5);
  expect(JSON.parse(await here.read("home/.claude.json"))).toMatchObject({ mcpServers: { fairlead: {} } });
  const { stdout } = await here.run("tools", "weather", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ tools: [{ server: "weather", serverToolName: "forecast" }] });
});
