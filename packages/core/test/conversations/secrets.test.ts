import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { recordedConversationsOf } from "../support/recorded-conversations.ts";
import { calls, collect, desk, plays, says } from "../support/turn-desk.ts";

const inSettings = "seeded-settings-5f1c";
const inArguments = "seeded-argument-77aa";
const inHeader = "seeded-header-90ab";
const marked = "seeded-result-c0de";

const servers = () => ({
  s: { ...stdioServer("counted", "", ""), env: { API_TOKEN: inSettings }, trust: true },
  marked: { ...stdioServer("well-behaved"), trust: true },
  never: { httpUrl: "http://127.0.0.1:9/mcp", headers: { "X-Api-Key": inHeader } },
  other: { command: "nothing-here", args: ["--token", inArguments] },
});

async function everything(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")))).join(
    "\n",
  );
}

test("no secret of the settings, and no result of a marked server, is in a recorded conversation", async () => {
  await using at = await desk({
    servers,
    fairlead: { start: "lazy", servers: { marked: { hideResults: true } } },
    host: { approvalMode: "yolo" },
  });
  const half = inSettings.length / 2;
  const model = plays(
    [...calls("echo", { text: inSettings, [inHeader]: "a name" }), ...calls("marked__echo", { text: marked })],
    // A model writes its answer in pieces.
    {
      events: [
        { type: "text", text: `It is ${inSettings.slice(0, half)}` },
        { type: "text", text: `${inSettings.slice(half)}.` },
        { type: "finish", reason: "stop", content: { role: "model", parts: [{ text: `It is ${inSettings}.` }] } },
      ],
    },
    says(`${inHeader} and ${inArguments}`),
  );
  await at.host.start({ servers: ["s", "marked"] });
  const conversation = at.host.conversation({ model, servers: ["s", "marked"] });
  const events = await collect(conversation.send(`what is ${inSettings}?`));
  await collect(conversation.send("and the others?"));
  conversation.rename(inHeader);
  await conversation.close();
  // The conversation itself has them.
  expect(JSON.stringify(conversation.history)).toContain(marked);
  expect(JSON.stringify(events)).toContain(marked);
  const recorded = await everything(recordedConversationsOf(at).folder);
  const withoutRequest = recorded
    .split("\n")
    .filter((line) => !/"type":"(?:content|call)"/.test(line) || line.includes('"display"'));
  for (const secret of [inSettings, inArguments, inHeader]) expect(recorded).not.toContain(secret);
  // The model's own request is recorded; the server's result is not.
  expect(withoutRequest.map((line) => line.replace(/"args":\{[^}]*\}/, "")).join("\n")).not.toContain(marked);
  expect(recorded).toContain('"output":"(hidden)"');
  expect(recorded).toContain('"text":"It is (hidden)."');
  const resumed = await at.host.conversation({ resume: conversation.id, model });
  expect(JSON.stringify(resumed.history)).toContain("(hidden)");
  expect(await at.host.hideSecrets(`${inHeader}, and nothing else`)).toBe("(hidden), and nothing else");
});
