import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB" };
const results = {
  texts: { content: ["one\n", "two", "three"].map((text) => ({ type: "text", text })) },
  mixed: { content: [{ type: "text", text: "a picture" }, image, { type: "text", text: "end" }] },
  link: {
    content: [
      { type: "resource_link", uri: "file:///x", name: "x" },
      { type: "resource", resource: { uri: "file:///y", text: "hello\n" } },
    ],
  },
  structured: { content: [], structuredContent: { sum: 1, list: ["a\u202eb"] } },
  failed: { isError: true, content: ["bad", "worse"].map((text) => ({ type: "text", text })) },
  empty: { content: [] },
};

test("a result is the same text in call, in -p, in its JSON and in the app", async () => {
  await using here = await machine();
  const file = await here.write("results.json", results);
  await here.write(userFile, { mcpServers: { r: stdioServer("results", file) } });
  await using app = await openScene(here);
  for (const name of Object.keys(results)) {
    const called = await here.run("call", `r.${name}`);
    const asked = await here.run("-p", `r.${name}`, "--model", "manual", "--allow", `r.${name}`);
    expect(asked.stdout, name).toBe(called.stdout);
    const { stdout } = await here.run("-p", `r.${name}`, "--model", "manual", "--allow", `r.${name}`, "--json");
    const { calls } = JSON.parse(stdout) as { readonly calls: readonly { readonly display: string }[] };
    expect(calls[0]?.display.trimEnd(), name).toBe(called.stdout.trimEnd());
    app.enter(`r.${name}`);
    const { items } = await app.until(
      (state) =>
        state.turn.kind === "idle" && state.items.some((item) => item.kind === "call" && item.call.tool === name),
    );
    const card = items.findLast((item) => item.kind === "call");
    expect(card?.kind === "call" ? card.call.display?.trimEnd() : undefined, name).toBe(called.stdout.trimEnd());
  }
  const { stderr } = await here.run("-p", "r.empty", "--model", "manual", "--allow", "r.empty");
  expect(stderr).toContain("r.empty returned an empty result");
});
