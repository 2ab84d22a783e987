/**
 * Has conversations with a model for ever, side by side: `converse HOME BASE_URL API_KEY COUNT`, or with their ids in place
 * of the number. Prints the ids, then a line for each event. Uses the compiled host: to bundle a whole host takes longer than
 * the test.
 */

import { systemClock } from "../../../build/clock.js";
import { createHost } from "../../../build/host.js";
import { createGeminiModel } from "../../../build/model/gemini/gemini.js";
import { createModelFetch } from "../../../build/model/model-fetch.js";

const [home = "", baseUrl = "", apiKey = "", which = ""] = process.argv.slice(2);
const clock = systemClock;
const model = createGeminiModel({
  name: "gemini-3-pro-preview",
  access: { kind: "key", apiKey, variable: "GEMINI_API_KEY" },
  baseUrl,
  fetch: createModelFetch({ env: {}, clock }),
  clock,
});
const env = { PATH: process.env["PATH"], HOME: home };
const environment = { env, home, cwd: home, platform: process.platform };
const host = await createHost({ environment, workspace: home, trust: true, approvalMode: "yolo", recover: false });
const conversations = which.includes("-")
  ? await Promise.all(which.split(",").map((id) => host.conversation({ resume: id, model })))
  : Array.from({ length: Number(which) }, () => host.conversation({ model }));
process.stdout.write(`${conversations.map(({ id }) => id).join(",")}\n`);
await Promise.all(
  conversations.map(async (conversation) => {
    for (;;) {
      const turn = conversation.history.length;
      const text = `turn ${turn}\ncall demo__picture\ncall demo__greet {"name":"Ada"}\nthen\ncall demo__fail`;
      for await (const event of conversation.send(text)) process.stdout.write(`${event.type}\n`);
    }
  }),
);
