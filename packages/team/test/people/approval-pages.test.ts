/** The pages on which users and approvers answer, over HTTP, with a database. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { testDatabase } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApprovalPages } from "../../src/people/approval-pages.ts";
import { BrowserSessions } from "../../src/sign-in/browser-session.ts";
import { EncryptedValues } from "../../src/sign-in/encrypted-values.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { openStore, ring } from "../support/open-store.ts";

const database = await testDatabase("pages for approvals of a team");

describe.runIf(database !== undefined)("the pages for approvals", () => {
  let store: TeamStore;
  let server: Server;
  let origin: string;
  let sessions: BrowserSessions;
  const failures: unknown[] = [];

  beforeAll(async () => {
    if (database === undefined) return;
    store = await openStore(database);
    sessions = new BrowserSessions(new EncryptedValues(ring, Date.now), { has: () => false }, Date.now);
    server = createServer((request, response) => {
      const url = origin;
      const logIn = async (returnTo: string, issuer = "any") => ({
        status: 303,
        location: `/login?to=${returnTo}&at=${issuer}`,
      });
      const onError = (error: unknown): void => void failures.push(error);
      const pages = new ApprovalPages({ url, store, ring, sessions, logIn, now: Date.now, onError });
      const found = pages.pageAt(new URL(request.url ?? "/", origin).pathname);
      if (found === undefined) response.writeHead(404).end();
      else void found.take(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [user, ...groups] of [
      ["ada", "leads"],
      ["lea", "leads"],
      ["bob", "engineers"],
    ])
      await store.users.seen({ tenant: 1, principal: `iss#${user}`, groups, issuedAt: Date.now() });
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  const ask = async (approver?: string) => {
    const id = randomUUID();
    const args = { text: "<b>hello</b>", long: "x".repeat(900) };
    const shown = {
      server: "shop",
      name: "pay",
      kind: "tool",
      client: "claude",
      reason: "a rule",
      digest: "d",
      who: "client",
    };
    const asked = JSON.stringify({ ...shown, args, answers: ["no", "once"], approver });
    const owner = { tenant: 1, principal: "iss#ada" };
    const question = { id, owner, server: "shop", tool: "pay", argsDigest: Buffer.from(id), asked };
    await store.questions.ask({ ...question, until: Date.now() + 60_000 });
    return id;
  };
  const cookieOf = (user: string) => sessions.begin({ tenant: 1, principal: `iss#${user}` }, user).split(";")[0] ?? "";
  const open = async (cookie: string | undefined, path: string, form?: Record<string, string>, from = origin) => {
    const response = await fetch(`${origin}${path}`, {
      redirect: "manual",
      headers: { ...(cookie !== undefined && { cookie }), ...(form && { origin: from }) },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    return { status: response.status, text: await response.text(), location: response.headers.get("location") };
  };
  const tokenIn = (text: string) => /name="token" value="([^"]+)"/.exec(text)?.[1];

  it("need a login, and come back to the question", async () => {
    const id = await ask();
    expect(await open(undefined, `/approvals/${id}`)).toMatchObject({
      status: 303,
      location: `/login?to=/approvals/${id}&at=any`,
    });
    // With several issuers the user chooses one, and comes back with it.
    expect(await open(undefined, `/approvals/${id}?issuer=${encodeURIComponent("https://two.example")}`)).toMatchObject(
      {
        location: `/login?to=/approvals/${id}&at=https://two.example`,
      },
    );
  });

  it("show the whole request to its user, who answers once", async () => {
    const id = await ask();
    const ada = cookieOf("ada");
    const shown = await open(ada, `/approvals/${id}`);
    expect(shown.text).toContain("&#60;b&#62;hello");
    expect(shown.text).toContain("x".repeat(400));
    expect(shown.text.replaceAll(/[^x]/g, "").length).toBeGreaterThan(899);
    const token = tokenIn(shown.text) ?? "";
    const path = `/approvals/${id}`;
    expect(await open(ada, path, { answer: "once", token: "other" })).toMatchObject({ status: 400 });
    expect(await open(ada, path, { answer: "once", token }, "https://evil.example")).toMatchObject({ status: 403 });
    expect(await open(cookieOf("bob"), path, { answer: "once", token })).toMatchObject({ status: 400 });
    expect((await store.questions.read(1, id))?.state).toBe("open");
    expect((await open(ada, path, { answer: "once", token })).text).toContain("The request runs when");
    expect(await store.questions.read(1, id)).toMatchObject({ state: "answered", answeredBy: "iss#ada" });
    expect(await open(ada, path, { answer: "no", token })).toMatchObject({ status: 400 });
  });

  it("let an approver answer, and not the user, also if the user is in the group; others see nothing", async () => {
    const id = await ask("leads");
    const own = await open(cookieOf("ada"), `/approvals/${id}`);
    expect(own.text).toContain("You cannot answer your own request");
    expect(tokenIn(own.text)).toBeUndefined();
    const theft = await open(cookieOf("bob"), `/approvals/${id}`);
    expect(theft).toMatchObject({ status: 400 });
    expect(theft.text).not.toContain("shop");
    const list = await open(cookieOf("lea"), "/approvals");
    expect(list.text).toContain(`/approvals/${id}`);
    expect((await open(cookieOf("bob"), "/approvals")).text).toContain("No request waits");
    const lea = cookieOf("lea");
    const token = tokenIn((await open(lea, `/approvals/${id}`)).text) ?? "";
    expect((await open(lea, `/approvals/${id}`, { answer: "no", token })).text).toContain("does not run");
    expect(await store.questions.read(1, id)).toMatchObject({ state: "answered", answeredBy: "iss#lea" });
  });
});
