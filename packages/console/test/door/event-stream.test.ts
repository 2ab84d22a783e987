import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { expect, test } from "vitest";
import { EventRing } from "../../src/server/door/event-ring.ts";
import { streamEvents } from "../../src/server/door/event-stream.ts";
import { openDoor } from "../support/open-door.ts";
import { type EventReader, readEvents, send, signIn } from "../support/page-client.ts";
import { note, ScriptedSource } from "../support/scripted-source.ts";

/** Reads this many events. */
async function take(reader: EventReader, count: number): Promise<readonly (number | undefined)[]> {
  const ids: (number | undefined)[] = [];
  while (ids.length < count) {
    const received = await reader.next();
    if (received === undefined) throw new Error(`the stream ended after ${ids.length} events`);
    ids.push(received.id);
  }
  return ids;
}

test("a stream begins with a snapshot that has the number of the last event, and goes on with the next", async () => {
  await using door = await openDoor();
  door.source.emit(note("before"));
  door.source.emit(note("before"));
  const headers = await signIn(door.address());
  await using reader = await readEvents(door.origin, headers);
  expect(reader.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  expect(await reader.next()).toMatchObject({
    id: 2,
    event: { type: "snapshot", isReset: false, snapshot: { version: "1.2.3" } },
  });
  door.source.emit(note("after"));
  expect(await reader.next()).toEqual({ id: 3, event: { type: "note", text: "after" } });
});

test("a page that reconnects gets what it has missed, and no snapshot", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  for (const text of ["1", "2", "3", "4"]) door.source.emit(note(text));
  await using reader = await readEvents(door.origin, headers, 2);
  expect(await reader.next()).toEqual({ id: 3, event: note("3") });
  expect(await reader.next()).toEqual({ id: 4, event: note("4") });
  expect(door.source.snapshots).toBe(0);
});

test("a page that comes back too late, or with a number of another console, starts again from a snapshot", async () => {
  await using door = await openDoor({ ring: new EventRing({ events: 3 }) });
  const headers = await signIn(door.address());
  for (let at = 1; at <= 10; at += 1) door.source.emit(note(`${at}`));
  for (const number of [0, 6, 11, 1e14]) {
    await using reader = await readEvents(door.origin, headers, number);
    expect(await reader.next()).toMatchObject({ id: 10, event: { type: "snapshot", isReset: true } });
  }
  await using reader = await readEvents(door.origin, headers, 7);
  expect(await take(reader, 3)).toEqual([8, 9, 10]);
});

test("a page that wants only what is missing gets it at once, and the answer ends", async () => {
  await using door = await openDoor({ ring: new EventRing({ events: 3 }) });
  const { authorization } = await signIn(door.address());
  const missing = async (after?: number): Promise<readonly string[]> => {
    const headers = { authorization, ...(after !== undefined && { "last-event-id": `${after}` }) };
    const { status, body } = await send(`${door.origin}/api/catch-up`, { headers });
    expect(status).toBe(200);
    return body.split("\n\n").map((event) => event.replace(/\ndata: \{"type":"(\w+)".*/, " $1"));
  };
  expect(await missing()).toEqual(["id: 0 snapshot", ""]);
  for (const text of ["1", "2", "3", "4"]) door.source.emit(note(text));
  expect(await missing(2)).toEqual(["id: 3 note", "id: 4 note", ""]);
  expect(await missing(4)).toEqual([""]);
  expect(await missing(0)).toEqual(["id: 4 snapshot", ""]);
  expect((await send(`${door.origin}/api/catch-up`)).status).toBe(401);
});

test("a window whose session makes room for others is not told that the console was closed", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  await using reader = await readEvents(door.origin, headers);
  await reader.next();
  for (let at = 0; at < 32; at += 1) await signIn(door.address());
  expect(await reader.next()).toBeUndefined();
  expect((await send(`${door.origin}/api/catch-up`, { headers })).status).toBe(401);
});

test("0 events are lost and 0 doubled over 20 cuts at 1 000 events a second", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  const count = 3000;
  let sent = 0;
  const sending = setInterval(() => {
    for (let at = 0; at < 10 && sent < count; at += 1) door.source.emit(note(`event ${++sent}`));
    if (sent === count) clearInterval(sending);
  }, 10);
  const received: (number | undefined)[] = [];
  const texts: string[] = [];
  let cuts = 0;
  let reader = await readEvents(door.origin, headers, 0);
  while (received.length < count) {
    const next = await reader.next();
    if (next !== undefined) {
      received.push(next.id);
      texts.push(next.event.type === "note" ? next.event.text : next.event.type);
    }
    // What is on its way at the cut is lost with the connection.
    const isCut = cuts < 20 && received.length >= (cuts + 1) * 140;
    if (isCut) cuts += 1;
    if (!isCut && next !== undefined) continue;
    reader.cut();
    reader = await readEvents(door.origin, headers, received.at(-1));
  }
  reader.cut();
  expect(cuts).toBe(20);
  expect(received).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  expect(texts).toEqual(received.map((id) => `event ${id}`));
  expect(door.source.snapshots).toBe(0);
});

/** A server that streams to one reader, with the response in the test's hands. */
async function streamingServer(ring: EventRing, clock: Pick<Clock, "after"> = systemClock) {
  const source = new ScriptedSource();
  const closing = new AbortController();
  let response: ServerResponse | undefined;
  let streaming: Promise<void> | undefined;
  const server = createServer((_, given) => {
    response = given;
    given.writeHead(200).flushHeaders();
    const { signal } = closing;
    streaming = streamEvents(given, { source, ring, after: 0, clock, signal, isClosed: () => true, isCatchUp: false });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ended: () => streaming,
    waiting: () => response?.writableLength ?? 0,
    async [Symbol.asyncDispose]() {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await Promise.allSettled([streaming, once(server, "close")]);
    },
  };
}

test("what a page does not read waits in the ring, not for this page: 60 MB leave less than 256 kB in its response", async () => {
  const ring = new EventRing();
  await using here = await streamingServer(ring);
  await using reader = await readEvents(here.origin, { authorization: "" });
  reader.pause();
  let most = 0;
  for (let at = 0; at < 60; at += 1) {
    for (let part = 0; part < 16; part += 1) ring.add(note("x".repeat(64 * 1024)));
    // The sockets take what they can.
    await new Promise<void>((resolve) => setImmediate(resolve));
    most = Math.max(most, here.waiting());
  }
  expect(most).toBeLessThan(256 * 1024);
  reader.resume();
  // The ring has 16 MB, so the page has lost events. It is told so, and goes on behind the snapshot.
  const seen: { readonly id: number | undefined; readonly type: string }[] = [];
  ring.add(note("last"));
  while (seen.at(-1)?.id !== ring.last) {
    const { id, event } = (await reader.next()) ?? {};
    seen.push({ id, type: event?.type ?? "" });
  }
  const resets = seen.filter(({ type }) => type === "snapshot");
  expect(resets.length).toBeGreaterThan(0);
  const reset = seen.findIndex(({ type }) => type === "snapshot");
  expect(seen.slice(0, reset).map(({ id }) => id)).toEqual(Array.from({ length: reset }, (_, at) => at + 1));
});

test("a comment line comes every 15 seconds, and no timer is left at the end", async () => {
  const timers = new Map<() => void, number>();
  const clock: Pick<Clock, "after"> = {
    after(milliseconds, action) {
      timers.set(action, milliseconds);
      return () => timers.delete(action);
    },
  };
  const ring = new EventRing();
  await using here = await streamingServer(ring, clock);
  {
    await using reader = await readEvents(here.origin, { authorization: "" });
    for (let at = 0; at < 3; at += 1) {
      expect([...timers.values()]).toEqual([15_000]);
      const [action = (): void => {}] = timers.keys();
      timers.delete(action);
      action();
    }
    ring.add(note("after"));
    await reader.next();
    expect(reader.comments).toEqual([":", ":", ":"]);
  }
  await here.ended();
  expect(timers.size).toBe(0);
});

test("a console that closes tells its pages, and ends their streams", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  await using reader = await readEvents(door.origin, headers);
  await reader.next();
  const closed = door.close();
  expect(await reader.next()).toEqual({ id: undefined, event: { type: "closed" } });
  expect(await reader.next()).toBeUndefined();
  await closed;
});

test("a page that does not read does not keep a console from closing", async () => {
  await using door = await openDoor();
  const headers = await signIn(door.address());
  await using reader = await readEvents(door.origin, headers, 0);
  reader.pause();
  for (let at = 0; at < 200; at += 1) door.source.emit(note("x".repeat(64 * 1024)));
  await door.close();
});
