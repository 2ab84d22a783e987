import { join } from "node:path";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { expect, test } from "vitest";
import { askingClient } from "../../support/asking-client.ts";
import { machine } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("the app shows the requests of clients as confirmations, and the first answer counts", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  // Without an open inbox the request fails at once, and waits for a late yes.
  expect(await client.request("early")).toMatch(/^Not run: files\.write_file needs .*fairlead approvals allow/);
  await using scene = await openScene(here);
  const early = await scene.asked("confirmation");
  expect(early.view).toMatchObject({
    client: "cursor",
    server: "files",
    name: "write_file",
    args: { path: "a.txt", text: "early" },
    reason: "rule 1 of fairlead.toml",
  });
  scene.session.answer(early.key, { kind: "confirmation", value: "once" });
  await scene.until(({ questions }) => questions.length === 0);
  await scene.shown(
    /files\.write_file has not run yet: it runs, once, if the program sends the same request again within ten minutes/,
  );
  const inbox = new Inbox(join(here.home, ".fairlead"));
  while ((await inbox.list()).length > 0);
  expect(await client.request("early")).toBe("yes");

  const waiting = client.request("now");
  const { key } = await scene.asked("confirmation");
  scene.session.answer(key, { kind: "confirmation", value: "no" });
  expect(await waiting).toMatch(/denied|declined/);

  const elsewhere = client.request("elsewhere");
  await scene.asked("confirmation");
  const [entry] = await inbox.list();
  expect(await here.run("approvals", "allow", entry?.id ?? "")).toMatchObject({ code: 0, stderr: "" });
  expect(await elsewhere).toBe("yes");
  await scene.until(({ questions }) => questions.length === 0);
});

test("closing the app answers no request", async () => {
  await using here = await machine();
  await using client = askingClient(here);
  const gone = new AbortController();
  expect(await client.request("early")).not.toBe("yes");
  let waiting: Promise<string> = Promise.resolve("");
  {
    await using scene = await openScene(here);
    // The app is an open inbox now.
    await scene.asked("confirmation");
    waiting = client.request("waiting", gone.signal);
    await scene.until(({ questions }) => questions.length === 2);
  }
  const inbox = new Inbox(join(here.home, ".fairlead"));
  expect((await inbox.list()).map(({ args }) => args["text"])).toEqual(["early", "waiting"]);
  gone.abort();
  await waiting;
});
