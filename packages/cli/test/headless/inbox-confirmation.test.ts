import { join } from "node:path";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine } from "../support/machine.ts";

/** A program that shows the inbox to a person. */
async function watched(here: Machine) {
  const inbox = new Inbox(join(here.home, ".fairlead"));
  const watch = await inbox.watch(() => {});
  return {
    async asked() {
      await until(async () => (await inbox.list()).length > 0);
      const [entry] = await inbox.list();
      if (entry === undefined) throw new Error("nothing waits");
      return entry;
    },
    inbox,
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

const call = ["-p", "demo.greet name=Ada", "--model", "manual", "--json"] as const;

test("while a program shows the inbox, fairlead -p waits for the answer there", async () => {
  await using here = await machine();
  await using shown = await watched(here);
  const running = here.run(...call);
  const entry = await shown.asked();
  expect(entry).toMatchObject({ who: "model", client: "fairlead -p", server: "demo", name: "greet" });
  expect(await here.run("approvals", "allow", entry.id)).toMatchObject({ code: 0 });
  const { stdout, stderr } = await running;
  expect(JSON.parse(stdout)).toMatchObject({ calls: [{ status: "ok" }] });
  expect(stderr).toContain(`demo.greet waits for approval: fairlead approvals allow ${entry.id}`);
});

test("a no is a denied call, with its reason", async () => {
  await using here = await machine();
  await using shown = await watched(here);
  const running = here.run(...call);
  const { id } = await shown.asked();
  await shown.inbox.answer(id, "no", "the console", undefined, "not today");
  const { stdout } = await running;
  expect(JSON.parse(stdout)).toMatchObject({ calls: [{ status: "denied" }] });
  expect(stdout).toContain("not today");
});

test("a run that is stopped withdraws its question", async () => {
  await using here = await machine();
  await using shown = await watched(here);
  const stop = new AbortController();
  const running = here.runWith({ signal: stop.signal }, ...call);
  await shown.asked();
  stop.abort();
  await running;
  expect(await shown.inbox.list()).toEqual([]);
});
