import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { Consent } from "../../src/consent/consent.ts";
import { deferred } from "../support/deferred.ts";
import { visitPage } from "../support/page-visitor.ts";
import { sampleClient, sampleConfirmation } from "../support/sample-confirmations.ts";
import { steppedClock } from "../support/stepped-clock.ts";

/** Questions of several clients, each of which opens pages and leaves forms unanswered. */
async function scene() {
  const folder = await temporaryFolder();
  const clock = steppedClock();
  const consent = new Consent({ stateFolder: join(folder.path, "state"), clock, now: clock.date });
  const runs: Promise<unknown>[] = [];
  const leaving = new AbortController();
  return {
    /** Asks one question. `place`: the address of its page, or "form" if the client was asked in a form. */
    async ask(conversation: string, at: number) {
      const { details, outcomes } = sampleConfirmation({ args: { at } });
      const cancel = new AbortController();
      const signal = AbortSignal.any([cancel.signal, leaving.signal]);
      const place = deferred<string>();
      const client = sampleClient(
        { url: true, form: true },
        async ({ mode, url }) => {
          place.resolve(mode === "url" ? String(url) : "form");
          return mode === "url" ? { action: "accept" } : new Promise(() => {});
        },
        { name: conversation, conversation },
      );
      const ended = Promise.allSettled([consent.port(client, signal)(async () => details)]);
      runs.push(ended);
      return { place: await place.promise, outcomes, ended, cancel: () => cancel.abort() };
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await Promise.all(runs);
      await consent[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("96 questions of one client close no page of another client, and beyond 32 it is asked in forms", async () => {
  await using here = await scene();
  const other = await here.ask("cursor", 0);
  const places: string[] = [];
  for (let at = 0; at < 96; at += 1) places.push((await here.ask("codex", at)).place);
  expect(places.map((place) => place === "form")).toEqual(places.map((_, at) => at >= 32));

  await (await visitPage(other.place)).answer("once");
  await other.ended;
  expect(other.outcomes).toEqual([["proceed_once", "page"]]);
  // Its own pages work too.
  expect((await (await visitPage(places[0] ?? "")).question()).status).toBe(200);
});

test("pages whose requests were cancelled leave room for new ones, and only the newest 64 are kept", async () => {
  await using here = await scene();
  const awaited = await here.ask("cursor", 0);
  const left: string[] = [];
  for (let at = 0; at < 70; at += 1) {
    const { place, cancel, ended } = await here.ask("codex", at);
    left.push(place);
    cancel();
    await ended;
  }
  expect(left).not.toContain("form");
  expect((await here.ask("codex", 70)).place).not.toBe("form");
  await expect(visitPage(left[0] ?? "")).rejects.toThrow("404");
  expect((await (await visitPage(left[69] ?? "")).answer("once")).body).toContain("This question has expired");
  expect((await visitPage(awaited.place)).session).not.toBe("");
});

test.for([
  ["say nothing", ""],
  ["send half a header", "POST / HTTP/1.1\r\nhost: a"],
  ["send half a body", "POST /approve/x/visit HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf"],
])("100 connections that %s do not keep a person from the page", async ([, text = ""]) => {
  await using here = await scene();
  const { place, outcomes, ended } = await here.ask("cursor", 0);
  const port = Number(new URL(place).port);
  const sockets: Socket[] = [];
  for (let at = 0; at < 100; at += 1) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(text);
  }
  const visitor = await visitPage(place);
  expect((await visitor.question()).body).toContain("write_file");
  await visitor.answer("once");
  await ended;
  expect(outcomes).toEqual([["proceed_once", "page"]]);
  for (const socket of sockets) socket.destroy();
});
