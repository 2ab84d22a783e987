import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { runSteps, stepsOf } from "../support/page.ts";

const example = "https://docs.example.com/mcp";
const page = readFileSync(fileURLToPath(new URL("../../../../docs/sign-in.md", import.meta.url)), "utf8");

test("what docs/sign-in.md shows is what happens", async () => {
  // A process of its own: each step of the page is waited for.
  const program = new URL("../../../test-servers/src/programs/authorization-server.mjs", import.meta.url);
  const child = spawn(process.execPath, [fileURLToPath(program)], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  try {
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const url = line.replace("MCP server: ", "");
    const steps = stepsOf("sign-in.md").map((step) => ({ ...step, line: step.line.replace(example, url) }));
    expect(steps).toHaveLength(5);
    await runSteps(steps);
  } finally {
    child.kill();
    await gone;
  }
});

test("its settings are settings", async () => {
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) => json);
  expect(blocks).toHaveLength(3);
  // The section `fairlead.team` counts only in the system's settings; packages/team tests it there.
  for (const block of blocks.filter((text) => !text.includes('"team"'))) {
    await using here = await machine({ [userFile]: block });
    expect(await here.run("settings", "validate")).toMatchObject({ code: 0 });
  }
});
