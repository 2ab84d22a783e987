import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ConsentQuestion } from "@fairlead/gateway/consent/confirmed-request";
import type { GivenAnswer } from "@fairlead/gateway/consent/inbox-folder";
import type { PageOutcome, PageQuestion } from "@fairlead/gateway/consent/question-pages";
import { deferred } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { QuestionPageServer } from "../../src/server/door/question-pages.ts";
import { askingGateway } from "../support/asked-question.ts";
import { builtPage } from "../support/built-page.ts";
import { exchange, post, type Reply, readEvents, send, signIn } from "../support/page-client.ts";

/** A window that has opened the page of a question first. */
async function visit(address: string) {
  const headers = await signIn(address);
  const { origin, pathname } = new URL(address);
  const id = pathname.replace("/question/", "");
  let keys = 0;
  const run = (verb: string, params: object): Promise<Reply> => {
    keys += 1;
    return post(origin, `/api/${verb}`, params, { ...headers, "idempotency-key": `${keys}` });
  };
  return {
    headers,
    origin,
    id,
    run,
    answer: (choice: string, because?: string) =>
      run("questions/answer", { id, answer: { kind: "request", choice, because } }),
    events: (after?: number) => readEvents(origin, headers, after),
  };
}

const question: ConsentQuestion = {
  who: "client",
  client: "claude-code",
  server: "files",
  kind: "tool",
  name: "write_file",
  folder: "/work",
  args: { path: "a.txt" },
  reason: "rule 1",
  answers: ["no", "once", "conversation"],
  key: "0".repeat(64),
  digest: "d1",
};

/** Pages of questions whose answers a test gives. */
function pagesScene() {
  const timers = new Map<() => void, number>();
  const clock = {
    after(milliseconds: number, action: () => void) {
      timers.set(action, milliseconds);
      return () => timers.delete(action);
    },
  };
  const pages = new QuestionPageServer({ readFiles: builtPage, version: "1.2.3", clock, now: () => 1000 });
  const answers: unknown[] = [];
  return {
    answers,
    times: () => [...timers.values()].sort((one, other) => one - other),
    /** Runs the timers with this delay. */
    pass(milliseconds: number): void {
      for (const [action, time] of timers) if (time === milliseconds && timers.delete(action)) action();
    },
    open(
      outcome: PageOutcome = { outcome: "first", text: "Your answer: yes, once." },
      more: Partial<PageQuestion> = {},
    ) {
      return pages.open({
        question,
        conversation: "c1",
        awaited: new AbortController().signal,
        answered: new Promise<GivenAnswer>(() => {}),
        async answer(...given) {
          answers.push(given);
          return outcome;
        },
        ...more,
      });
    },
    [Symbol.asyncDispose]: () => pages[Symbol.asyncDispose](),
  };
}

test("the page of a question shows this question alone, after the exchange of its code and not before", async () => {
  await using here = pagesScene();
  const { url, isVisited } = await here.open();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/question\/[\w-]{22}#k=[\w-]{43}$/);
  const document = await send(url.replace(/#.*/, ""));
  expect(document.status).toBe(200);
  expect(document.body).toContain("This page needs JavaScript");
  expect(document.body).not.toMatch(/write_file|a\.txt|claude-code/);
  expect(isVisited()).toBe(false);
  const window = await visit(url);
  expect(isVisited()).toBe(true);
  await using events = await window.events();
  const snapshot = (await events.next())?.event;
  expect(snapshot).toMatchObject({
    type: "snapshot",
    snapshot: { version: "1.2.3", servers: [], calls: [], workspace: { root: "/work" } },
  });
  expect(snapshot).toHaveProperty("snapshot.questions", [
    {
      id: window.id,
      kind: "request",
      since: 1000,
      deadline: 3_601_000,
      server: "files",
      from: "the program claude-code",
      request: "tool",
      isAwaited: true,
      verb: "run",
      name: "write_file",
      folder: "/work",
      args: { path: "a.txt" },
      isCut: false,
      digest: "d1",
      reason: "rule 1",
      choices: [
        { value: "no", text: "no" },
        { value: "once", text: "yes, once" },
        { value: "conversation", text: "this tool, until the program disconnects" },
      ],
    },
  ]);
});

test("the page takes one answer, which the question offers, and then it is gone", async () => {
  await using here = pagesScene();
  const { url } = await here.open();
  const window = await visit(url);
  const wrong = [
    await window.answer("always"),
    await window.answer("yes"),
    await window.run("questions/answer", { id: window.id, answer: { kind: "form", action: "cancel" } }),
    await window.run("questions/answer", { id: window.id }),
    await window.run("questions/answer", { id: window.id, answer: { kind: "request", choice: "once" }, more: 1 }),
    await window.run("servers/stop", { servers: ["files"] }),
    await window.run("history/list", {}),
    await window.run("constructor", {}),
  ];
  expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 400));
  const other = await window.run("questions/answer", { id: "own-1", answer: { kind: "request", choice: "once" } });
  expect(other.status).toBe(422);
  expect(here.answers).toEqual([]);
  const given = await window.answer("no", "not now");
  expect([given.status, JSON.parse(given.body)]).toEqual([200, { isFirst: true, text: "Your answer: yes, once." }]);
  expect(here.answers).toEqual([["no", "not now"]]);
  // A page that did not get the response sends its answer again, and gets it.
  const key = { ...window.headers, "idempotency-key": "10" };
  const body = { id: window.id, answer: { kind: "request", choice: "no", because: "not now" } };
  expect((await post(window.origin, "/api/questions/answer", body, key)).body).toBe(given.body);
  expect((await window.answer("once")).status).toBe(422);
  await using events = await window.events();
  expect((await events.next())?.event).toHaveProperty("snapshot.questions", []);
  expect(here.times()).toEqual([5000, 15_000]);
  here.pass(5000);
  expect(await events.next()).toMatchObject({ event: { type: "closed" } });
  expect((await window.answer("once")).status).toBe(401);
  expect(await exchange(url)).toMatchObject({ status: 404, body: expect.stringContaining("fairlead approvals") });
  expect(here.answers.length).toBe(1);
});

test("two answers that are sent at once: one counts", async () => {
  const stored = deferred<PageOutcome>();
  await using here = pagesScene();
  const { url } = await here.open(undefined, {
    async answer(...given) {
      here.answers.push(given);
      return stored.promise;
    },
  });
  const window = await visit(url);
  const both = [window.answer("once"), window.answer("no")];
  while (here.answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const late = await Promise.race(both);
  expect(late.status).toBe(422);
  stored.resolve({ outcome: "first", text: "done" });
  const statuses = (await Promise.all(both)).map(({ status }) => status);
  expect(statuses.sort((one, other) => one - other)).toEqual([200, 422]);
  expect(here.answers.length).toBe(1);
});

test("a late answer says so, and an expired question is not found", async () => {
  await using here = pagesScene();
  const late = await here.open({ outcome: "late", text: "already answered" });
  expect(JSON.parse((await (await visit(late.url)).answer("once")).body)).toEqual({
    isFirst: false,
    text: "already answered",
  });
  const expired = await here.open({ outcome: "expired", text: "it has expired" });
  const answer = await (await visit(expired.url)).answer("once");
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    422,
    { error: { code: "not_found", message: "it has expired" } },
  ]);
});

test("an answer that cannot be stored is told, and the page takes no other", async () => {
  await using here = pagesScene();
  const { url } = await here.open(undefined, { answer: () => Promise.reject(new Error("the disk is full")) });
  const window = await visit(url);
  expect(await window.answer("once")).toMatchObject({ status: 422, body: expect.stringContaining("the disk is full") });
  expect((await window.answer("once")).body).toContain("not found");
});

test("the page hears that its question was answered elsewhere, and that the program no longer waits", async () => {
  await using here = pagesScene();
  const answered = deferred<GivenAnswer>();
  const leaving = new AbortController();
  const { url } = await here.open(undefined, { answered: answered.promise, awaited: leaving.signal });
  const window = await visit(url);
  await using events = await window.events();
  await events.next();
  leaving.abort();
  expect((await events.next())?.event).toMatchObject({ type: "question", question: { isAwaited: false } });
  // The stream collects events after a piece, and this clock stands still.
  here.pass(100);
  answered.resolve({ answer: "no", by: "fairlead approvals", at: 0 });
  expect((await events.next())?.event).toEqual({
    type: "answered",
    id: window.id,
    by: "fairlead approvals",
    answer: "no",
  });
});

test("a page whose question was answered does not show it again when its request no longer waits", async () => {
  await using gateway = await askingGateway();
  const { place, ended } = await gateway.ask();
  const window = await visit(place);
  await using events = await window.events();
  await events.next();
  const [entry] = await gateway.inbox.list();
  await gateway.inbox.answer(entry?.id ?? "", "once", "the app");
  await ended;
  expect((await events.next())?.event).toEqual({ type: "answered", id: window.id, by: "the app", answer: "yes, once" });
  const [next] = await Promise.all([events.next(), gateway[Symbol.asyncDispose]()]);
  expect(next?.event).toEqual({ type: "closed" });
});

test("a page that nobody answers ends after an hour", async () => {
  await using here = pagesScene();
  const { url } = await here.open();
  const window = await visit(url);
  await using events = await window.events();
  await events.next();
  here.pass(3_600_000);
  expect(await events.next()).toEqual({ id: undefined, event: { type: "closed" } });
  expect((await window.answer("once")).status).toBe(401);
});

test("only the window that opened the address first sees and answers the question", async () => {
  await using gateway = await askingGateway();
  const { place, outcomes, ended } = await gateway.ask();
  const first = await visit(place);
  const code = new URL(place).hash.slice(3);
  const strangers = [
    await exchange(place),
    await post(first.origin, "/api/session", { code: "", path: new URL(place).pathname }),
    await post(first.origin, "/api/session", { code, path: "/" }),
    await send(`${first.origin}/api/events`, { headers: { authorization: `Bearer ${code}` } }),
    await send(`${first.origin}/api/events`),
    await send(`${first.origin}/api/events`, { headers: { authorization: first.headers.authorization.toUpperCase() } }),
  ];
  expect(strangers.map(({ status }) => status)).toEqual([401, 401, 404, 401, 401, 401]);
  for (const { body } of strangers) expect(body).not.toMatch(/write_file|a\.txt|claude-code/);
  expect(strangers[0]?.body).toContain("only the window that opened it first shows it and takes the answer");
  expect(outcomes).toEqual([]);
  // A reload of the first window shows the question again.
  await using events = await first.events();
  expect((await events.next())?.event).toMatchObject({ type: "snapshot", snapshot: { questions: [{ id: first.id }] } });
  expect((await first.answer("once")).body).toContain("yes, once");
  expect(await ended).toBe("yes");
  expect(outcomes).toEqual([["proceed_once", "page"]]);
});

test("an address without its code shows nothing, and leaves the question to the whole address", async () => {
  await using gateway = await askingGateway();
  const { place, outcomes, ended } = await gateway.ask();
  const refused = [
    await exchange(place.replace(/#.*/, "")),
    await exchange(place.replace(/#.*/, `#k=${"A".repeat(43)}`)),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401]);
  for (const { body } of refused) expect(body).toContain("open the whole address");
  await (await visit(place)).answer("no");
  expect(await ended).toContain("denied");
  expect(outcomes).toEqual([["cancel", "page"]]);
});

test("pages of two questions know nothing of each other", async () => {
  await using gateway = await askingGateway();
  const [one, two] = [await gateway.ask({ args: { at: 1 } }), await gateway.ask({ args: { at: 2 } })];
  const first = await visit(one.place);
  const other = new URL(two.place).pathname.replace("/question/", "");
  const answer = { kind: "request", choice: "once" };
  expect((await first.run("questions/answer", { id: other, answer })).status).toBe(422);
  await using events = await first.events();
  const snapshot = JSON.stringify((await events.next())?.event);
  expect([snapshot.includes('{"at":1}'), snapshot.includes('{"at":2}')]).toEqual([true, false]);
  expect(two.outcomes).toEqual([]);
  // A code opens its own page only.
  const [{ pathname }, { hash }] = [new URL(one.place), new URL(two.place)];
  expect((await post(first.origin, "/api/session", { code: hash.slice(3), path: pathname })).status).toBe(401);
});

test("a page that is answered after the inbox says who answered", async () => {
  await using gateway = await askingGateway();
  const { place, outcomes, ended } = await gateway.ask();
  const window = await visit(place);
  const [entry] = await gateway.inbox.list();
  await gateway.inbox.answer(entry?.id ?? "", "no", "fairlead approvals");
  expect(await ended).toContain("denied");
  const answer = await window.answer("once");
  expect(JSON.parse(answer.body)).toEqual({
    isFirst: false,
    text: "This question already has an answer, from fairlead approvals: no.",
  });
  expect(outcomes).toEqual([["cancel", "inbox"]]);
});

test("96 questions of one client close no page of another client, and beyond 32 it is asked in forms", async () => {
  await using gateway = await askingGateway();
  const other = await gateway.ask({}, "cursor");
  const places: string[] = [];
  for (let at = 0; at < 96; at += 1) places.push((await gateway.ask({ args: { at } }, "codex")).place);
  expect(places.map((place) => place === "form")).toEqual(places.map((_, at) => at >= 32));
  await (await visit(other.place)).answer("once");
  await other.ended;
  expect(other.outcomes).toEqual([["proceed_once", "page"]]);
  // Its own pages work too.
  expect((await exchange(places[0] ?? "")).status).toBe(200);
});

test("pages whose requests were cancelled leave room for new ones, and only the newest 64 are kept", async () => {
  await using gateway = await askingGateway();
  const awaited = await gateway.ask({}, "cursor");
  const left: string[] = [];
  for (let at = 0; at < 70; at += 1) {
    const { place, cancel, ended } = await gateway.ask({ args: { at } }, "codex");
    left.push(place);
    cancel();
    await ended;
  }
  expect(left).not.toContain("form");
  expect((await gateway.ask({ args: { at: 70 } }, "codex")).place).not.toBe("form");
  expect((await exchange(left[0] ?? "")).status).toBe(404);
  const expired = await (await visit(left[69] ?? "")).answer("once");
  expect(expired).toMatchObject({ status: 422, body: expect.stringContaining("This question has expired") });
  expect((await exchange(awaited.place)).status).toBe(200);
});

test.for([
  ["say nothing", ""],
  ["send half a header", "POST / HTTP/1.1\r\nhost: a"],
  [
    "send half a body",
    "POST /api/session HTTP/1.1\r\nhost: HOST\r\norigin: http://HOST\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\nhalf",
  ],
])("100 connections that %s do not keep a person from the page", async ([, text = ""]) => {
  await using gateway = await askingGateway();
  const { place, outcomes, ended } = await gateway.ask();
  const { host, port } = new URL(place);
  const sockets: Socket[] = [];
  for (let at = 0; at < 100; at += 1) {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(text.replaceAll("HOST", host));
  }
  await (await visit(place)).answer("once");
  await ended;
  expect(outcomes).toEqual([["proceed_once", "page"]]);
  for (const socket of sockets) socket.destroy();
});
