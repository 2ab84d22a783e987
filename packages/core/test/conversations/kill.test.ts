import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { scaled, seed } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { geminiScene, openaiScene } from "../support/model-legs.ts";
import { recordedConversationsOf } from "../support/recorded-conversations.ts";
import { brokenIn, collect, desk } from "../support/turn-desk.ts";

const program = fileURLToPath(new URL("../support/programs/converse.mjs", import.meta.url));
/** One process has so many conversations side by side: a kill finds each of them at another moment. */
const together = 10;
const kills = scaled(200, 20) / together;
/** A long history makes every request longer: new conversations begin after so many kills. */
const perHistory = 4;
const mostLines = scaled(400, 120);

/** Runs the program until it has printed that many lines, kills it, and returns the ids of its conversations. */
async function killAfter(lines: number, ...words: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let ids = "";
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (seen === 0) ids = line;
    seen += 1;
    if (seen >= lines) child.kill("SIGKILL");
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
  return ids.split(",");
}

test("conversations that are killed at random moments go on each time, with nothing lost that was whole and nothing twice", {
  timeout: 60_000 + kills * 30_000,
}, async () => {
  await using at = await desk({ servers: () => ({}), host: { approvalMode: "yolo" } });
  const { textOf } = recordedConversationsOf(at);
  const gemini = await geminiScene({}, { name: "gemini-3-pro-preview" });
  const models = [gemini.model, (await openaiScene()).model];
  const start = seed();
  let ids: readonly string[] = [];
  for (let nth = 0; nth < kills; nth += 1) {
    const moment = 2 + ((start + nth * 7919) % mostLines);
    const { baseUrl, settings } = gemini.api;
    const which = nth % perHistory === 0 || ids.length === 0 ? String(together) : ids.join(",");
    const killed = await killAfter(moment, at.path("home"), baseUrl, settings.apiKey, which);
    const recorded = new Set((await at.host.conversations()).map(({ id }) => id));
    // A conversation that was killed before its first message was on disk has left nothing.
    ids = killed.filter((id) => recorded.has(id));
    for (const [index, id] of ids.entries()) {
      const where = `seed ${start}, kill ${nth} after ${moment} lines, conversation ${index}`;
      const before = (await textOf(id)).replace(/[^\n]*$/, "");
      const resumed = await at.host.conversation({ resume: id, model: models[index % 2] ?? gemini.model });
      expect([where, brokenIn(resumed.history)]).toEqual([where, undefined]);
      const [event] = (await collect(resumed.send(`kill ${nth}`))).slice(-1);
      expect([where, event]).toEqual([where, expect.objectContaining({ type: "done", reason: "stop" })]);
      await resumed.close();
      expect([where, (await textOf(id)).startsWith(before)]).toEqual([where, true]);
      const said = resumed.history.flatMap(({ parts }) => parts[0]?.text?.match(/^(?:turn|kill) \d+/)?.[0] ?? []);
      expect([where, said.length]).toEqual([where, new Set(said).size]);
      expect([where, said.at(-1)]).toEqual([where, `kill ${nth}`]);
    }
  }
});
