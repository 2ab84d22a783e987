import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { chromiumProgram, openChromium, until } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";
import { openDoor } from "../support/open-door.ts";
import { note } from "../support/scripted-source.ts";

const count = 3000;
const mostCuts = 20;

// Says that Chromium is absent.
if (chromiumProgram === undefined) await openChromium("events over cut connections");

/** The page's own code for the stream, as a script that defines `page.EventStream`. */
function streamScript(): string {
  const entry = fileURLToPath(new URL("../../src/page/stream.ts", import.meta.url));
  const options = { bundle: true, write: false, format: "iife", globalName: "page", target: "chrome111" } as const;
  return buildSync({ entryPoints: [entry], ...options }).outputFiles[0]?.text ?? "";
}

/** The connections of streams that are open now, to be cut. Node tells of each request that a server in this process gets. */
function openStreams() {
  const sockets = new Set<Socket>();
  let opened = 0;
  const onRequest = (message: unknown): void => {
    const { request, socket } = message as { readonly request: IncomingMessage; readonly socket: Socket };
    if (request.url !== "/api/events") return;
    opened += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  subscribe("http.server.request.start", onRequest);
  return {
    opened: () => opened,
    cut(): void {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.dispose]: () => void unsubscribe("http.server.request.start", onRequest),
  };
}

test.runIf(chromiumProgram !== undefined)(
  "the page loses 0 events and shows 0 twice over 20 cuts at 1 000 events a second",
  async () => {
    const browser = await openChromium("events over cut connections");
    await using door = await openDoor();
    using streams = openStreams();
    const page = await browser?.newPage();
    if (page === undefined) throw new Error("Chromium is absent");
    const { origin, hash } = new URL(door.address());
    await page.goto(`${origin}/`);
    await page.evaluate(`${streamScript()}
      globalThis.received = [];
      fetch("/api/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: ${JSON.stringify(hash.slice(3))}, path: "/" }),
      }).then((answer) => answer.json()).then(({ bearer, channel }) => {
        const onEvent = (event, id) => { if (event.type === "note") received.push([id, event.text]); };
        new page.EventStream({ bearer, channel, onEvent, onState() {} }).start();
      });`);
    const received = (): Promise<number> => page.evaluate("received.length");
    await until(() => streams.opened() > 0);
    let sent = 0;
    let cuts = 0;
    const sending = setInterval(() => {
      for (let at = 0; at < 10 && (sent < count || cuts < mostCuts); at += 1) {
        sent += 1;
        door.source.emit(note(`event ${sent}`));
      }
    }, 10);
    try {
      for (; cuts < mostCuts; cuts += 1) {
        const before = await received();
        await until(async () => (await received()) > before);
        const opened = streams.opened();
        streams.cut();
        // The page has noticed the cut, and has opened another stream.
        await until(() => streams.opened() > opened);
      }
      await until(() => sent >= count);
    } finally {
      clearInterval(sending);
    }
    await until(async () => (await received()) >= sent);
    const all = await page.evaluate("received");
    expect(all).toEqual(Array.from({ length: sent }, (_, at) => [at + 1, `event ${at + 1}`]));
    process.stderr.write(`events over cut connections: ${sent} events, ${cuts} cuts, 0 lost, 0 doubled\n`);
    await browser?.close();
  },
);

test.runIf(chromiumProgram !== undefined)(
  "tabs that share a stream lose 0 events and show 0 twice while the tab that reads it is closed again and again",
  async () => {
    const browser = await openChromium("events shared by tabs");
    await using door = await openDoor();
    using streams = openStreams();
    const context = await browser?.newContext();
    if (context === undefined) throw new Error("Chromium is absent");
    const openTab = async () => {
      const page = await context.newPage();
      const { origin, hash } = new URL(door.address());
      await page.goto(`${origin}/`);
      await page.evaluate(`${streamScript()}
        globalThis.received = [];
        globalThis.first = undefined;
        fetch("/api/session", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ code: ${JSON.stringify(hash.slice(3))}, path: "/" }),
        }).then((answer) => answer.json()).then(({ bearer, channel }) => {
          const onEvent = (event, id) => {
            if (event.type === "snapshot") first ??= id;
            if (event.type === "note") received.push([id, event.text]);
          };
          new page.EventStream({ bearer, channel, onEvent, onState() {} }).start();
        });`);
      await until(async () => (await page.evaluate("first")) !== undefined);
      return page;
    };
    let sent = 0;
    const sending = setInterval(() => {
      for (let at = 0; at < 10; at += 1) {
        sent += 1;
        door.source.emit(note(`event ${sent}`));
      }
    }, 10);
    const tabs = [];
    try {
      while (tabs.length < 7) tabs.push(await openTab());
      for (let closed = 0; closed < 5; closed += 1) {
        // The tab that was opened first leads.
        await tabs.shift()?.close();
        const [next] = tabs;
        const before = await next?.evaluate("received.length");
        await until(async () => Number(await next?.evaluate("received.length")) > Number(before) + 50);
      }
    } finally {
      clearInterval(sending);
    }
    const total = sent;
    expect(tabs).toHaveLength(2);
    for (const tab of tabs) {
      await until(async () => (await tab.evaluate("received.at(-1)?.[0]")) === total);
      const first = Number(await tab.evaluate("first"));
      const all = await tab.evaluate("received");
      expect(all).toEqual(
        Array.from({ length: total - first }, (_, at) => [first + at + 1, `event ${first + at + 1}`]),
      );
    }
    // One for each tab that has led, and none of the others.
    expect(streams.opened()).toBe(6);
    await browser?.close();
  },
);
